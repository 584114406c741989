/**
 * Guards over one Redis on loopback beside their peers. Each side has a process of its own, and the sides alternate.
 * Rates by the clock, and processor time of one call: of the client with all its threads, and of the server.
 * Arguments: --seconds 3 --rounds 5 --keys 10000, then the names of comparisons (default: all)
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import type { Side } from './support/redis-guard-process.js'
import { COMPARISONS, type Comparison, FLOOR, OWN } from './support/redis-guard-sides.js'
import { median, report } from './support/report.js'

const { values, positionals } = numberArguments({ seconds: 3, rounds: 5, keys: 10_000 })
const PROCESS = fileURLToPath(new URL('./support/redis-guard-process.js', import.meta.url))

const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}
const servers = await startSingle()
try {
  const server = servers.servers[0]!
  const pid = /process_id:(\d+)/.exec(String(await server.say('INFO', 'server')))![1]!
  for (const row of positionals.length > 0 ? positionals : Object.keys(COMPARISONS)) {
    await server.say('FLUSHALL')
    compare(row, server.port, pid)
  }
} finally {
  await servers.stop()
}
report({ name: 'redis-guards', rounds: values.rounds, setting: values, figures, ratios })

function compare(row: string, port: number, pid: string): void {
  const comparison = COMPARISONS[row]!
  const sides = [OWN, ...Object.keys(comparison.peers), ...(comparison.floor ? [FLOOR] : [])]
  const measured = new Map(sides.map((side): [string, Side[]] => [side, []]))
  for (let round = 0; round < values.rounds; round++) {
    // Whoever is first does not stay first.
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const side of order) measured.get(side)!.push(measureSide([row, side, String(port), pid]))
  }
  tell(comparison, measured)
}

function measureSide(names: string[]): Side {
  const args = [PROCESS, ...names, String(values.seconds), String(values.keys)]
  const output = execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(output.toString()) as Side
}

function tell(
  { title, inFlight, reach, peers: named }: Comparison,
  measured: ReadonlyMap<string, Side[]>,
): void {
  const called = `${title}, ${inFlight} in flight`
  const middle = (side: string, of: keyof Side) => median(measured.get(side)!.map((one) => one[of]))
  for (const side of measured.keys()) {
    figures[`${called}, ${side}: per second`] = middle(side, 'rate')
    figures[`${called}, ${side}: µs of the client`] = middle(side, 'clientUs')
    figures[`${called}, ${side}: µs of the server`] = middle(side, 'serverUs')
  }
  const peers = Object.keys(named).sort((a, b) => middle(b, 'rate') - middle(a, 'rate'))
  const own = measured.get(OWN)!
  const used = ({ clientUs, serverUs }: Side) => clientUs + serverUs
  const per = (ratio: (mine: Side, theirs: Side) => number, of = peers[0]!) =>
    median(own.map((mine, i) => ratio(mine, measured.get(of)![i]!)))
  ratios[`${called}, of ${peers[0]} (at least ${reach})`] = per((mine, theirs) => mine.rate / theirs.rate)
  ratios[`${called}, by processor time`] = per((mine, theirs) => used(theirs) / used(mine))
  ratios[`${called}, by processor time of the client`] = per(
    (mine, theirs) => theirs.clientUs / mine.clientUs,
  )
}
