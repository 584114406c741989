import { CatracaStore } from '../../src/adapters/express-rate-limit.js'
import { rateLimitStore } from '../../src/adapters/fastify-rate-limit.js'
import { KeyvCatraca } from '../../src/adapters/keyv.js'
import { CatracaThrottlerStorage } from '../../src/adapters/throttler.js'
import { catraca, counting, type Run } from './adapted.js'

const ADDRESS = '203.0.113.7'
const limits = (counting as { limits: { acquire(): Promise<unknown> } }).limits
const space = (catraca as { cache: { space(): { get(): Promise<unknown> } } }).cache.space()
const options = { catraca: counting, resource: 'api' }

/** One call of a store behind another limiter or cache, and the call of the guard alone. */
export const STORES: Record<string, { plain: Run; adapted: Run }> = {
  'express-rate-limit': { plain: () => limits.acquire(), adapted: ofExpress() },
  '@fastify/rate-limit': { plain: () => limits.acquire(), adapted: ofFastify() },
  '@nestjs/throttler': { plain: () => limits.acquire(), adapted: ofThrottler() },
  keyv: { plain: () => space.get(), adapted: ofKeyv() },
}

function ofExpress(): Run {
  const store = new CatracaStore(options)
  const windows = { windowMs: 60_000, limit: 100, skipFailedRequests: false, skipSuccessfulRequests: false }
  store.init(windows as never)
  return () => store.increment(ADDRESS)
}

function ofFastify(): Run {
  const Store = rateLimitStore(options)
  const store = new Store({ max: 100, timeWindow: 60_000 })
  return () =>
    new Promise((resolve, reject) => {
      store.incr(ADDRESS, (error, count) => (error ? reject(error) : resolve(count)), 60_000, 100)
    })
}

function ofThrottler(): Run {
  const storage = new CatracaThrottlerStorage(options)
  return () => storage.increment(ADDRESS, 60_000, 100, 60_000, 'default')
}

function ofKeyv(): Run {
  const store = new KeyvCatraca({ space: space as never })
  return () => store.get('a-key')
}
