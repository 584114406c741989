/**
 * One side of `redis-guards` in a process of its own: warms up, then measures. Arguments: COMPARISON SIDE PORT SERVER_PID
 * SECONDS KEYS
 */
import { COMPARISONS, FLOOR, OWN } from './redis-guard-sides.js'
import { load, serverCpuUs, visitAll } from './turns.js'

export interface Side {
  /** Calls per second. */
  rate: number
  /** Processor time of one call, in µs. */
  clientUs: number
  serverUs: number
}

const WARM_UP_CALLS = 30_000

const [row = '', side = '', port, serverPid, seconds, keys] = process.argv.slice(2)
const comparison = COMPARISONS[row]!
const { own, floor, peers } = comparison
const open = side === OWN ? own : side === FLOOR ? floor! : peers[side]!
const call = await open(Number(port), Number(keys))
await visitAll(call, Number(keys))
// By calls and not by time: on a busy machine a second is not enough for the compiler, which favours whoever has less code.
for (let warm = 0; warm < WARM_UP_CALLS; ) warm += (await load(call, comparison.inFlight, 200)).done

const serverBefore = serverCpuUs(Number(serverPid))
const before = process.cpuUsage()
const { done, ms } = await load(call, comparison.inFlight, Number(seconds) * 1000)
const { user, system } = process.cpuUsage(before)
const measured: Side = {
  rate: (1000 * done) / ms,
  clientUs: (user + system) / done,
  serverUs: (serverCpuUs(Number(serverPid)) - serverBefore) / done,
}
// What is open goes with the process.
process.stdout.write(JSON.stringify(measured), () => process.exit())
