/**
 * Hot verbs over HTTP: processor time of the server for a request, less that of the same call of the library, against a bare
 * Fastify route with JSON of the same sizes. Each side in a process of its own, in turns; processor time of each process as
 * it tells it itself.
 * Arguments: requests per round (4,000), rounds (5), `server.checkFastPath` (connection), verbs whose names begin so (all).
 * `node --cpu-prof --cpu-prof-dir=DIRECTORY dist/bench/http-verbs.js …` profiles each side.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { requestText, sendAll } from './support/http-lanes.js'
import { BENCH_KEY, VERBS, type VerbRequest } from './support/http-verbs.js'
import type { Order, Sample } from './support/http-verbs-side.js'
import { median, report } from './support/report.js'

const [count = 4000, rounds = 5] = process.argv.slice(2, 4).map(Number)
const checkFastPath = process.argv[4] ?? 'connection'
const verbs = Object.keys(VERBS).filter((verb) => verb.startsWith(process.argv[5] ?? ''))
const CONNECTIONS = 32
/** The compiler is done with a route after so many; with fewer, whoever has less code is favoured. */
const WARM_UP_REQUESTS = 24_000

interface Side {
  url: string
  ask<T>(order: Order): Promise<T>
  stop(): void
}

async function startSide(...args: string[]): Promise<Side> {
  const child = fork(fileURLToPath(new URL('./support/http-verbs-side.js', import.meta.url)), args)
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    async ask<T>(order: Order) {
      const answered = once(child, 'message')
      child.send(order)
      return ((await answered) as [{ told: T }])[0].told
    },
    // It ends by itself then, and writes its profile if it makes one.
    stop: () => child.disconnect(),
  }
}

const catraca = await startSide('catraca', checkFastPath)
const library = await startSide('library')
const fastify = await startSide('fastify')
let from = 0

/** Processor time of a side for each of these requests. */
async function costOf(side: Side, requests: readonly string[]): Promise<{ micros: number; sample: Sample }> {
  const before = await side.ask<number>({ do: 'cpu' })
  const { status, body, others } = await sendAll(side.url, requests, CONNECTIONS)
  const micros = ((await side.ask<number>({ do: 'cpu' })) - before) / requests.length
  if (status >= 300 || others > 0) throw new Error(`answers: ${status}, ${others} others: ${body}`)
  return { micros, sample: { method: '', status, body } }
}

interface Round {
  http: number
  call: number
  bare: number
}

async function round(verb: string): Promise<Round> {
  from += count
  const order = { verb, from, count }
  const made = await catraca.ask<string[]>({ do: 'prepare', ...order })
  const requests = Array.from({ length: count }, (_, i) => VERBS[verb]!.request(from + i, made[i]!))
  const text = ({ method, path, body }: VerbRequest) => requestText(method, path, BENCH_KEY, body)
  const http = await costOf(catraca, requests.map(text))
  await library.ask({ do: 'prepare', ...order })
  const call = (await library.ask<number>({ do: 'call', ...order })) / count
  await fastify.ask({ do: 'answers', samples: { [verb]: http.sample } })
  const route = `/${verb.replaceAll(/[^a-z]/g, '')}/`
  // The same length, and one parameter.
  const bare = requests.map((request) =>
    text({ ...request, path: route.padEnd(Math.max(request.path.length, route.length + 1), 'x') }),
  )
  return { http: http.micros, call, bare: (await costOf(fastify, bare)).micros }
}

const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}
try {
  for (const verb of verbs) {
    for (let made = 0; made < WARM_UP_REQUESTS; made += count) await round(verb)
    const all: Round[] = []
    for (let i = 0; i < rounds; i++) all.push(await round(verb))
    const middle = (field: keyof Round) => median(all.map((one) => one[field]))
    figures[`${verb}: over HTTP, cpu µs`] = middle('http')
    figures[`${verb}: library, cpu µs`] = middle('call')
    figures[`${verb}: bare Fastify, cpu µs`] = middle('bare')
    const shares = all.map(({ http, call, bare }) => (http - call) / bare).sort((a, b) => a - b)
    ratios[`${verb} (target 1.25 at most)`] = median(shares)
    figures[`${verb}: lowest ratio`] = shares[0]!
    figures[`${verb}: highest ratio`] = shares.at(-1)!
    console.log(
      verb,
      middle('http').toFixed(1),
      middle('call').toFixed(1),
      middle('bare').toFixed(1),
      median(shares).toFixed(2),
    )
  }
  // A result of some verbs would replace that of all.
  if (verbs.length === Object.keys(VERBS).length)
    report({
      name: 'http-verbs',
      rounds,
      setting: { requestsPerRound: count, CONNECTIONS, checkFastPath },
      figures,
      ratios,
    })
} finally {
  for (const side of [catraca, library, fastify]) side.stop()
}
