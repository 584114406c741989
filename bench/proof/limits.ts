/**
 * Several processes hammer one key on one directory. What was admitted must not pass the rule, and must reach nearly
 * all of it. Arguments: --seconds 20 --processes 8 --capacity 500 --perSecond 2000
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openCatraca } from '../../src/catraca.js'
import type { LimitPlan } from '../support/limit-process.js'
import {
  demand,
  type Failed,
  type Figures,
  inTemporaryDirectory,
  Violation,
  whenStarted,
} from '../support/proof.js'

const PROCESS = fileURLToPath(new URL('../support/limit-process.js', import.meta.url))
const SIZES = { seconds: 20, processes: 8, capacity: 500, perSecond: 2000, inFlight: 16 }
/** Of what the rule allows from the first to the last admission. */
const LEAST_SHARE = 0.98

interface Tally {
  type: 'done'
  admitted: number
  denied: number
  deniedHere: number
  /** By the clock that decided. */
  firstAt: number
  lastAt: number
}

export function run(given: Partial<typeof SIZES>, leastShare = LEAST_SHARE): Promise<Figures> {
  const { seconds, processes, capacity, perSecond, inFlight } = { ...SIZES, ...given }
  return inTemporaryDirectory(async (directory) => {
    const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
    const rule = { capacity, refillAmount: perSecond, refillPeriodSeconds: 1 }
    await catraca.limits.setConfig({ level: 'system', resource: 'proof' }, { limits: { x: rule } })
    const plan: LimitPlan = { directory, seconds, inFlight }
    const children = Array.from({ length: processes }, () =>
      fork(PROCESS, [JSON.stringify(plan)], { execArgv: [] }),
    )
    const tallies = await Promise.all(
      children.map(async (child): Promise<Tally> => {
        const [message] = (await once(child, 'message')) as [Tally | Failed]
        if (message.type === 'failed') throw new Violation(message.message)
        return message
      }),
    ).finally(() => {
      for (const child of children) child.kill('SIGKILL')
    })
    await catraca.close()
    const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0)
    const admitted = sum((tally) => tally.admitted)
    const tookMs =
      Math.max(...tallies.map(({ lastAt }) => lastAt)) - Math.min(...tallies.map(({ firstAt }) => firstAt))
    const most = capacity + (tookMs * perSecond) / 1000
    demand(admitted <= most, `${admitted} were admitted, and the rule allows ${most} in ${tookMs} ms`)
    demand(admitted >= most * leastShare, `${admitted} were admitted of the ${most} that the rule allows`)
    return {
      admitted,
      'share of the rule': admitted / most,
      'asked/s': (admitted + sum((tally) => tally.denied)) / seconds,
      'denied in memory': sum((tally) => tally.deniedHere),
    }
  })
}

await whenStarted(import.meta.url, 'limits', SIZES, (sizes) => run(sizes))
