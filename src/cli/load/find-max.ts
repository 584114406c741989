import type { LoadResult } from './result.js'

/** What a run must keep to. */
export interface Bounds {
  maxP99Ms?: number
  maxErrors?: number
}

/** The bounds that a run broke, in words. */
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
  /** Why an attempt before did not count, where there was one. */
  firstBroke?: string[]
  result: LoadResult
}

export interface Search {
  /** The first rate. */
  from: number
  /** No higher rate is tried. */
  to: number
  /** Told of each step. */
  onStep(step: Step): void
  isStopped?(): boolean
}

/** Done when what is unknown is no more than this share of the rate. */
const PRECISION = 0.05
/** Answers that came, of those that were due: below that the server did not keep up, however fast each was. */
const LEAST_ANSWERED = 0.98

/** Like `broken`, with what goes without saying for the highest rate. */
export function brokenBounds(result: LoadResult, bounds: Bounds): string[] {
  const wrong = broken(result, { maxErrors: 0, ...bounds })
  const { due, answered, achievedRate, seconds } = result
  if (answered < LEAST_ANSWERED * due) wrong.push(`${answered} of ${due} were answered`)
  // A queue that only grows is emptied behind the run; where no time bounds it, nothing else tells.
  else if (bounds.maxP99Ms === undefined && achievedRate * seconds < LEAST_ANSWERED * due)
    wrong.push(`only ${Math.round(achievedRate)}/s were answered in time`)
  return wrong
}

type Run = (rate: number) => Promise<LoadResult>

/** A step that breaks the bounds is tried once more: another program may have had the machine for a moment. */
async function stepAt(rate: number, run: Run, bounds: Bounds): Promise<Step> {
  const first = await run(rate)
  const firstBroke = brokenBounds(first, bounds)
  if (first.endedEarly || firstBroke.length === 0) return { rate, isKept: !first.endedEarly, result: first }
  const second = await run(rate)
  const isKept = !second.endedEarly && brokenBounds(second, bounds).length === 0
  return { rate, isKept, firstBroke, result: second }
}

/** Doubles while the bounds are kept, then halves the distance to what breaks them. */
export async function findMax(
  run: Run,
  bounds: Bounds,
  { from, to, onStep, isStopped = () => false }: Search,
): Promise<Step | undefined> {
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

/** One step after the other, each by the same factor higher; tells which was the highest that kept the bounds. */
export async function ramp(
  run: Run,
  bounds: Bounds,
  { from, to, onStep, isStopped = () => false }: Search,
): Promise<Step | undefined> {
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
