/**
 * Flags: one list of many customers as a flag. OFREP over HTTP against the ordinary check route of the framework, and the
 * provider in process against the library's check; half of the customers are members. Processor time, each side in a process of
 * its own, in turns.
 * Arguments: members (5,000,000), evaluations a round (20,000), rounds (5).
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { requestText, sendAll } from './support/http-lanes.js'
import { type PinnedServer, startPinned } from './support/pinned.js'
import { numberedCustomer, prepareChecks } from './support/prepare-checks.js'
import { median, report } from './support/report.js'

const [members = 5_000_000, count = 20_000, rounds = 5] = process.argv.slice(2).map(Number)
const CONNECTIONS = 32
const WARM_UP_ROUNDS = 2

const ROUTES = {
  // An encoded name is not a plain check, so the framework answers it.
  check: (customer: string, key: string) =>
    requestText('GET', `/customers/${customer}/check?allowlist%73=vip`, key, undefined),
  ofrep: (targetingKey: string, key: string) =>
    requestText('POST', '/ofrep/v1/evaluate/flags/vip', key, { context: { targetingKey } }),
}
type Route = keyof typeof ROUTES

const directory = await mkdtemp(join(tmpdir(), 'catraca-bench-'))
const store = `embedded:${directory}`
const running: { stop(): unknown }[] = []
try {
  const key = await prepareChecks(store, members)
  const servers = { check: await serve(), ofrep: await serve() }
  const sides = { library: await side('check'), provider: await side('provider') }
  const costs: Record<string, number[]> = { check: [], ofrep: [], library: [], provider: [] }
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const from = (round + WARM_UP_ROUNDS) * count
    const cost: Record<string, number> = {}
    for (const route of ['check', 'ofrep'] as Route[])
      cost[route] = await overHttp(servers[route], route, key, from)
    for (const [name, child] of Object.entries(sides)) cost[name] = await inProcess(child, from)
    if (round >= 0) for (const [name, micros] of Object.entries(cost)) costs[name]!.push(micros)
  }
  const ratio = (of: string, to: string) => median(costs[to]!.map((micros, i) => micros / costs[of]![i]!))
  report({
    name: 'flags',
    rounds,
    setting: { members, evaluations: count },
    figures: Object.fromEntries(Object.entries(costs).map(([name, all]) => [`${name} cpu µs`, median(all)])),
    ratios: {
      'OFREP / check route (target 0.70)': ratio('ofrep', 'check'),
      'provider / library check (target 0.70)': ratio('provider', 'library'),
    },
  })
} finally {
  for (const one of running) await one.stop()
  await rm(directory, { recursive: true, force: true })
}

async function serve(): Promise<PinnedServer> {
  const server = await startPinned(0, 'catraca-server.js', [store])
  running.push(server)
  return server
}

async function side(name: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./support/flags-side.js', import.meta.url)), [
    store,
    name,
    String(members),
  ])
  running.push({ stop: () => child.kill() })
  await once(child, 'message')
  return child
}

async function inProcess(child: ChildProcess, from: number): Promise<number> {
  const answered = once(child, 'message')
  child.send({ from, count })
  return (await answered)[0] as number
}

async function overHttp(server: PinnedServer, route: Route, key: string, from: number): Promise<number> {
  const requests = Array.from({ length: count }, (_, i) => {
    const place = (from + i) * 7919
    const number = i % 2 === 0 ? place % members : members + (place % members)
    return ROUTES[route](numberedCustomer(number), key)
  })
  const before = await server.cpuMicros()
  const { status, others, body } = await sendAll(server.url, requests, CONNECTIONS)
  if (status !== 200 || others > 0) throw new Error(`${route}: ${status}, ${others} others: ${body}`)
  return ((await server.cpuMicros()) - before) / count
}
