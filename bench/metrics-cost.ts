/**
 * What metrics cost: the same `GET /customers/{id}/check?allowlists=vip,wave` with metrics on and off, two servers on
 * one core that take turns, loaded by `wrk` on the other. Keys on, access log sampled.
 * Arguments: members of the FIXA list (200,000), seconds per turn (3), rounds (7).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, loadByWrk, type PinnedServer, startPinned } from './support/pinned.js'
import { prepareChecks } from './support/prepare-checks.js'
import { median, report } from './support/report.js'

const [members = 200_000, seconds = 3, rounds = 7] = process.argv.slice(2).map(Number)
const SERVER_CORE = 0
const LOAD_CORE = 1
const WARM_UP_REQUESTS = 150_000
const script = new URL('../../bench/http-check.lua', import.meta.url)

interface Turn extends Load {
  cpuMicrosPerRequest: number
}

const directory = await mkdtemp(join(tmpdir(), 'catraca-bench-'))
try {
  const store = `embedded:${directory}`
  const key = await prepareChecks(store, members)
  const servers = {
    on: await startPinned(SERVER_CORE, 'catraca-server.js', [store, 'metrics-on']),
    off: await startPinned(SERVER_CORE, 'catraca-server.js', [store, 'metrics-off']),
  }
  try {
    tell(await measure(servers, key))
  } finally {
    await Promise.all([servers.on.stop(), servers.off.stop()])
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}

type Way = 'on' | 'off'

async function measure(servers: Record<Way, PinnedServer>, key: string): Promise<Record<Way, Turn[]>> {
  const turns: Record<Way, Turn[]> = { on: [], off: [] }
  const run = (way: Way, forSeconds: number) =>
    loadByWrk(LOAD_CORE, forSeconds, servers[way].url, script, [key, String(members)])
  for (const way of ['on', 'off'] as const) {
    for (let served = 0; served < WARM_UP_REQUESTS; ) served += (await run(way, 1)).requests
  }
  for (let round = 0; round < rounds; round++) {
    // Who begins changes, since a disturbance that lasts would meet always the same one.
    for (const way of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
      const before = await servers[way].cpuMicros()
      const load = await run(way, seconds)
      const cpuMicros = (await servers[way].cpuMicros()) - before
      turns[way].push({ ...load, cpuMicrosPerRequest: cpuMicros / load.requests })
      console.log(
        `round ${round + 1} ${way}: ${Math.round(load.requestsPerSecond)}/s, ${(cpuMicros / load.requests).toFixed(2)} µs`,
      )
    }
  }
  return turns
}

function tell({ on, off }: Record<Way, Turn[]>): void {
  const middle = (turns: Turn[], field: keyof Turn) => median(turns.map((turn) => turn[field]))
  report({
    name: 'metrics-cost',
    rounds,
    setting: { members, secondsPerTurn: seconds },
    figures: Object.fromEntries(
      Object.entries({ on, off }).flatMap(([way, turns]) => [
        [`metrics ${way}, requests/s`, middle(turns, 'requestsPerSecond')],
        [`metrics ${way}, p99 ms`, middle(turns, 'p99Ms')],
        [`metrics ${way}, cpu µs/request`, middle(turns, 'cpuMicrosPerRequest')],
      ]),
    ),
    ratios: {
      'throughput with metrics / without (target 0.95)': median(
        on.map((turn, i) => turn.requestsPerSecond / off[i]!.requestsPerSecond),
      ),
      'cpu: without / with metrics (target 0.95)':
        middle(off, 'cpuMicrosPerRequest') / middle(on, 'cpuMicrosPerRequest'),
    },
  })
}
