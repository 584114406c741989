// A program that imports every path of the package. Compiled in each form; not run.
import { type Catraca, isCatracaError, type OpenOptions, openCatraca } from 'catraca'
import { createClient } from 'catraca/client'
import { patientFetch } from 'catraca/client/node'
import { lockSuites } from 'catraca/conformance'
import { dictCache } from 'catraca/dict'
import { rateLimit as expressLimit } from 'catraca/express'
import { CatracaStore } from 'catraca/express-rate-limit'
import { rateLimit as fastifyLimit } from 'catraca/fastify'
import { rateLimitStore } from 'catraca/fastify-rate-limit'
import { withRateLimit } from 'catraca/fetch'
import { rateLimit as honoLimit } from 'catraca/hono'
import { KeyvCatraca } from 'catraca/keyv'
import { metricsOf } from 'catraca/metrics'
import { CatracaModule } from 'catraca/nestjs'
import { CatracaProvider } from 'catraca/openfeature'
import { connectCatraca } from 'catraca/remote'
import { createServer } from 'catraca/server'
import { CatracaThrottlerStorage } from 'catraca/throttler'

export const used = [
  createClient,
  patientFetch,
  lockSuites,
  dictCache,
  expressLimit,
  fastifyLimit,
  rateLimitStore,
  withRateLimit,
  honoLimit,
  connectCatraca,
  CatracaStore,
  KeyvCatraca,
  CatracaModule,
  CatracaProvider,
  CatracaThrottlerStorage,
]

export async function main(options: OpenOptions): Promise<string> {
  const catraca: Catraca = await openCatraca(options)
  const app = await createServer(catraca, { metrics: false })
  await app.close()
  const { overallAllowed } = await catraca.allowlists.check('ann', ['vip'])
  const answer = await catraca.limits.acquire({ entity: 'ann', resource: 'api' })
  const waitMs: number = answer.allowed ? 0 : answer.retryAfterMs
  try {
    await catraca.locks.withLock('job', { ttlMs: 1000 }, async ({ fence }) => fence)
  } catch (error) {
    if (!isCatracaError(error, 'LOCK_HELD')) throw error
  }
  await catraca.close()
  return `${overallAllowed} ${waitMs} ${await metricsOf(catraca).metrics()}`
}
