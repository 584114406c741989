/** A side of `bench/http-verbs.ts`: `catraca`, `library`, or `fastify`, which gets the answers that it is to give. */
import Fastify from 'fastify'
import { pino } from 'pino'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { hashKey } from '../../src/guards/access/index.js'
import { SCOPES } from '../../src/guards/access/scopes.js'
import { startServer } from '../../src/server/index.js'
import { BENCH_KEY, fill, inFlight, VERBS } from './http-verbs.js'

const AT_ONCE = 32

export interface Sample {
  method: string
  status: number
  /** As JSON; empty when there is none. */
  body: string
}
/** `count` things to do with this verb; the first one has the number `from`. */
export type Order =
  | { do: 'cpu' }
  | { do: 'prepare' | 'call'; verb: string; from: number; count: number }
  | { do: 'answers'; samples: Record<string, Sample> }

const side = process.argv[2]
let made: string[] = []
let answers: Record<string, Sample> = {}
const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function begin(): Promise<{ url: string; catraca?: Catraca }> {
  if (side === 'fastify') return { url: await bareFastify() }
  const catraca = await openCatraca({
    store: 'memory:',
    cache: { spaces: [{ name: 'space', ttlMs: 3_600_000 }] },
  })
  await fill(catraca)
  if (side === 'library') return { url: '', catraca }
  const bootstrapKeys = () => [{ name: 'all', scopes: [...SCOPES], hash: hashKey(BENCH_KEY) }]
  const checkFastPath = (process.argv[3] ?? 'connection') as 'connection'
  const server = await startServer(catraca, {
    ...{ port: 0, logger: pino({ level: 'silent' }), bootstrapKeys, accessLogSampling: 0.01, checkFastPath },
  })
  return { url: server.url, catraca }
}

/** The peer: what a service would write that gives these answers, and does nothing for them. */
async function bareFastify(): Promise<string> {
  const app = Fastify({ routerOptions: { maxParamLength: 16_384 } })
  for (const verb of Object.keys(VERBS)) {
    const path = `/${verb.replaceAll(/[^a-z]/g, '')}/:id`
    let text: string | undefined
    let answer: unknown
    app.route({
      method: ['GET', 'POST', 'PUT', 'DELETE'],
      url: path,
      handler: async (_request, reply) => {
        const { status, body } = answers[verb]!
        if (text !== body) [text, answer] = [body, body === '' ? undefined : JSON.parse(body)]
        reply.code(status)
        return answer
      },
    })
  }
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const { url, catraca } = await begin()

async function obey(order: Order): Promise<unknown> {
  if (order.do === 'cpu') return cpuMicros()
  if (order.do === 'answers') {
    answers = order.samples
    return true
  }
  const { from, count } = order
  const verb = VERBS[order.verb]!
  if (order.do === 'prepare') {
    made = []
    await inFlight(verb.prepare ? count : 0, AT_ONCE, async (i) => {
      made[i] = (await verb.prepare!(catraca!, from + i)) as string
    })
    return side === 'library' ? true : made
  }
  const before = cpuMicros()
  await inFlight(count, AT_ONCE, (i) => verb.call(catraca!, from + i, made[i]!))
  return cpuMicros() - before
}

process.on('message', (order: Order) => {
  obey(order).then(
    (told) => process.send?.({ told }),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ url })
