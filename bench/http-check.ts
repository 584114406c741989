/**
 * `GET /customers/{id}/check?allowlists=vip,wave` on one core, loaded by `wrk` on the other, against a bare
 * node:http server with a fixed body of the same size in the same run. Keys on, access log sampled.
 * Arguments: members of the FIXA list (5,000,000), seconds per round (5), rounds (5).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, loadByWrk, type PinnedServer, startPinned } from './support/pinned.js'
import { numberedCustomer, prepareChecks } from './support/prepare-checks.js'
import { median, report } from './support/report.js'

const [members = 5_000_000, seconds = 5, rounds = 5] = process.argv.slice(2).map(Number)
const SERVER_CORE = 0
const LOAD_CORE = 1
const WARM_UP_REQUESTS = 150_000
const script = new URL('../../bench/http-check.lua', import.meta.url)

interface Round extends Load {
  cpuMicrosPerRequest: number
}

const directory = await mkdtemp(join(tmpdir(), 'catraca-bench-'))
try {
  const store = `embedded:${directory}`
  const key = await prepareChecks(store, members)
  const catraca = await startPinned(SERVER_CORE, 'catraca-server.js', [store])
  const bodyBytes = await meanAnswerBytes(catraca.url, key)
  const framework = await startPinned(SERVER_CORE, 'catraca-server.js', [store, 'fast-path-off'])
  const bare = await startPinned(SERVER_CORE, 'bare-server.js', [String(bodyBytes)])
  try {
    tell(await measure({ bare, catraca, framework }, key), bodyBytes)
  } finally {
    await Promise.all([catraca.stop(), framework.stop(), bare.stop()])
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}

/** Half of the answers are about members, and those are longer. */
async function meanAnswerBytes(url: string, key: string): Promise<number> {
  const sizeOf = async (i: number) => {
    const path = `/customers/${numberedCustomer(i)}/check?allowlists=vip,wave`
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    return (await answer.text()).length
  }
  return Math.round(((await sizeOf(0)) + (await sizeOf(members))) / 2)
}

async function measure<Name extends string>(
  contenders: Record<Name, PinnedServer>,
  key: string,
): Promise<Record<Name, Round[]>> {
  const entries = Object.entries(contenders) as [Name, PinnedServer][]
  const results = Object.fromEntries(entries.map(([name]) => [name, []])) as unknown as Record<Name, Round[]>
  const run = (server: PinnedServer, duration: number) =>
    loadByWrk(LOAD_CORE, duration, server.url, script, [key, String(members)])
  for (const [, contender] of entries) {
    // By requests, not by time: on a busy machine code would otherwise be measured while it is being compiled.
    for (let served = 0; served < WARM_UP_REQUESTS; ) served += (await run(contender, 1)).requests
  }
  for (let round = 1; round <= rounds; round++) {
    for (const [name, contender] of entries) {
      const before = await contender.cpuMicros()
      const load = await run(contender, seconds)
      const cpuMicros = (await contender.cpuMicros()) - before
      results[name].push({ ...load, cpuMicrosPerRequest: cpuMicros / load.requests })
      console.log(`round ${round} ${name}: ${Math.round(load.requestsPerSecond)}/s`)
    }
  }
  return results
}

function tell(results: Record<'bare' | 'catraca' | 'framework', Round[]>, bodyBytes: number): void {
  const middle = (name: keyof typeof results, field: keyof Round) =>
    median(results[name].map((round) => round[field]))
  const ratio = (name: keyof typeof results) =>
    median(results[name].map((round, i) => round.requestsPerSecond / results.bare[i]!.requestsPerSecond))
  const names = ['bare', 'catraca', 'framework'] as const
  report({
    name: 'http-check',
    rounds,
    setting: { members, secondsPerRound: seconds, bodyBytes },
    figures: Object.fromEntries(
      names.flatMap((name) => [
        [`${name} requests/s`, middle(name, 'requestsPerSecond')],
        [`${name} p99 ms`, middle(name, 'p99Ms')],
        [`${name} cpu µs/request`, middle(name, 'cpuMicrosPerRequest')],
      ]),
    ),
    ratios: {
      'catraca / bare (target 1.0)': ratio('catraca'),
      'through the framework / bare': ratio('framework'),
      'cpu: bare / catraca': middle('bare', 'cpuMicrosPerRequest') / middle('catraca', 'cpuMicrosPerRequest'),
    },
  })
}
