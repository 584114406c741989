import type { LoadResult } from './result.js'

/** The limits that a run must not exceed. */
export interface Bounds {
  maxP99Ms?: number
  maxErrors?: number
}

/** The limits that a run exceeded, in words. */
export function broken({ latencyMs, errorCount }: LoadResult, { maxP99Ms, maxErrors }: Bounds): string[] {
  const wrong: string[] = []
  if (maxP99Ms !== undefined && !(latencyMs.p99 <= maxP99Ms))
    wrong.push(`p99 is ${latencyMs.p99.toFixed(2)} ms, more than ${maxP99Ms} ms`)
  if (maxErrors !== undefined && errorCount > maxErrors)
    wrong.push(`${errorCount} errors, more than ${maxErrors}`)
  return wrong
}

export interface Step {
  rate: number
  isKept: boolean
  /** Why the first attempt did not count, if there was one. */
  firstBroke?: string[]
  result: LoadResult
}

export interface Search {
  /** The first rate. */
  from: number
  /** The highest rate to try. */
  to: number
  /** Called after each step. */
  onStep(step: Step): void
  isStopped?(): boolean
}

/** The search ends when the unknown range is at most this share of the rate. */
const PRECISION = 0.05
/** Share of due requests that were answered. Below it the server did not keep up, however fast each response was. */
const LEAST_ANSWERED = 0.98

/** Like `broken`, plus the conditions that the highest rate always has to meet. */
function brokenBounds(result: LoadResult, bounds: Bounds): string[] {
  const wrong = broken(result, { maxErrors: 0, ...bounds })
  const { due, answered, achievedRate, seconds } = result
  if (answered < LEAST_ANSWERED * due) wrong.push(`${answered} of ${due} were answered`)
  // A queue that only grows is drained after the run. Without a latency limit, only the rate of responses shows it.
  else if (bounds.maxP99Ms === undefined && achievedRate * seconds < LEAST_ANSWERED * due)
    wrong.push(`only ${Math.round(achievedRate)}/s were answered in time`)
  return wrong
}

type Run = (rate: number) => Promise<LoadResult>

/** A step that exceeds the limits is run once more: another program may have used the machine for a moment. */
async function stepAt(rate: number, run: Run, bounds: Bounds): Promise<Step> {
  const first = await run(rate)
  const firstBroke = brokenBounds(first, bounds)
  if (first.endedEarly || firstBroke.length === 0) return { rate, isKept: !first.endedEarly, result: first }
  const second = await run(rate)
  const isKept = !second.endedEarly && brokenBounds(second, bounds).length === 0
  return { rate, isKept, firstBroke, result: second }
}

/** Returns the highest step that stayed within the limits. */
type Finder = (run: Run, bounds: Bounds, search: Search) => Promise<Step | undefined>

/** Doubles the rate until a step exceeds the limits, then bisects. */
export const findMax: Finder = async (run, bounds, { from, to, onStep, isStopped = () => false }) => {
  let best: Step | undefined
  let low = 0
  let high = Number.POSITIVE_INFINITY
  let rate = Math.min(from, to)
  while (!isStopped()) {
    const step = await stepAt(rate, run, bounds)
    if (step.result.endedEarly) break
    onStep(step)
    if (step.isKept) {
      best = step
      low = rate
      if (rate >= to) break
    } else high = rate
    rate = Math.round(high === Number.POSITIVE_INFINITY ? Math.min(rate * 2, to) : (low + high) / 2)
    if (high - low <= Math.max(1, PRECISION * low) || rate <= low || rate >= high) break
  }
  return best
}

const RAMP_STEPS = 8

/** Runs steps one after another, each higher by the same factor. */
export const ramp: Finder = async (run, bounds, { from, to, onStep, isStopped = () => false }) => {
  let best: Step | undefined
  for (let i = 0; i < RAMP_STEPS && !isStopped(); i++) {
    const rate = Math.round(from * (to / from) ** (i / (RAMP_STEPS - 1)))
    const step = await stepAt(rate, run, bounds)
    if (step.result.endedEarly) break
    onStep(step)
    if (step.isKept) best = step
  }
  return best
}
