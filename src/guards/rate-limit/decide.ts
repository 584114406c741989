import { type AlgorithmResult, KIND_OF, type LimitState, type LimitView } from './algorithms/algorithm.js'
import { ALGORITHM } from './algorithms/index.js'
import { rewound } from './algorithms/rewound.js'
import type { LeasedLimit, LimitCost } from './port.js'
import type { Rule } from './rule.js'

/** States of the limits of one subject, by name. Unused limits are absent. */
export type SubjectState = readonly (readonly [name: string, state: LimitState])[]

export interface Decision {
  allowed: boolean
  views: LimitView[][]
  /** The new states of each subject. Undefined where nothing changed. */
  states: (SubjectState | undefined)[]
}

/** The whole decision as a pure function: takes from all limits of all subjects, or from none. */
export function decide(
  before: readonly SubjectState[],
  subjects: readonly { limits: readonly LimitCost[] }[],
  now: number,
): Decision {
  const verdicts: AlgorithmResult[][] = []
  let allowed = true
  for (let i = 0; i < subjects.length; i++) {
    const { limits } = subjects[i]!
    const ofSubject: AlgorithmResult[] = []
    for (let j = 0; j < limits.length; j++) {
      const limit = limits[j]!
      const verdict = judge(before[i]!, limit, limit.cost, now)
      if (verdict.retryAfterMs > 0 && !limit.shadow) allowed = false
      ofSubject.push(verdict)
    }
    verdicts.push(ofSubject)
  }
  return allowed ? admission(before, subjects, verdicts) : denial(before, subjects, verdicts, now)
}

// Loops, because this runs for every call of the embedded engine: the callbacks of `map` took a sixth of its time.
function admission(
  before: readonly SubjectState[],
  subjects: readonly { limits: readonly LimitCost[] }[],
  verdicts: readonly (readonly AlgorithmResult[])[],
): Decision {
  const views: LimitView[][] = []
  const states: (SubjectState | undefined)[] = []
  for (let i = 0; i < subjects.length; i++) {
    views.push(verdicts[i]!.map(toView))
    states.push(merge(before[i]!, subjects[i]!.limits, verdicts[i]!))
  }
  return { allowed: true, views, states }
}

function denial(
  before: readonly SubjectState[],
  subjects: readonly { limits: readonly LimitCost[] }[],
  verdicts: readonly (readonly AlgorithmResult[])[],
  now: number,
): Decision {
  const views = subjects.map(({ limits }, i) =>
    limits.map((limit, j) => {
      const verdict = verdicts[i]![j]!
      // Nothing was taken from this limit either, so show its current state.
      return toView(verdict.retryAfterMs > 0 ? verdict : judge(before[i]!, limit, 0, now))
    }),
  )
  return { allowed: false, views, states: subjects.map(({ limits }, i) => rewind(before[i]!, limits, now)) }
}

/**
 * Moves the requested states to the present if the clock was set back. Otherwise a denied caller would wait until
 * the clock reaches its old time again. Undefined if the clock was not set back.
 */
export function rewind(
  states: SubjectState,
  limits: readonly LimitCost[],
  now: number,
): SubjectState | undefined {
  const after = states.map(([name, state]) => {
    const asked = limits.find((limit) => limit.name === name && limit.cost > 0)
    return [name, asked === undefined ? state : present(state, asked.rule, now)] as const
  })
  return after.some(([, state], i) => state !== states[i]![1]) ? after : undefined
}

/** The state in the present time. A state of another algorithm than that of the rule counts for nothing. */
const present = (state: LimitState, { algorithm }: Rule, now: number): LimitState =>
  state[0] === KIND_OF[algorithm] ? rewound(state, now) : state

function judge(states: SubjectState, { name, rule }: LimitCost, cost: number, now: number): AlgorithmResult {
  const state = stateOf(states, name)
  const current = state && present(state, rule, now)
  const verdict = ALGORITHM[rule.algorithm].take(current, rule, cost, now)
  if (cost === 0) return { ...verdict, state }
  return verdict.retryAfterMs > 0 ? { ...verdict, state: current } : verdict
}

export function stateOf(states: SubjectState, name: string): LimitState | undefined {
  for (const [known, state] of states) if (known === name) return state
  return undefined
}

const toView = ({ remaining, resetMs, retryAfterMs }: AlgorithmResult): LimitView => ({
  remaining,
  resetMs,
  retryAfterMs,
})

function merge(
  before: SubjectState,
  limits: readonly { name: string }[],
  after: readonly { state: LimitState | undefined }[],
): SubjectState | undefined {
  let isChanged = false
  for (let i = 0; i < limits.length; i++)
    if (stateOf(before, limits[i]!.name) !== after[i]!.state) isChanged = true
  if (!isChanged) return undefined
  const states: [string, LimitState][] = []
  for (const [name, state] of before) if (!isNamed(limits, name)) states.push([name, state])
  for (let i = 0; i < limits.length; i++) {
    const { state } = after[i]!
    if (state !== undefined) states.push([limits[i]!.name, state])
  }
  return states
}

function isNamed(limits: readonly { name: string }[], name: string): boolean {
  for (const limit of limits) if (limit.name === name) return true
  return false
}

/** Per limit, the sum of the deltas that the lease has received since it was taken. */
export type LeaseSums = readonly number[]

/** Cuts the delta so that the total of the lease stays at 0 or above. */
export function applicableDelta({ cost, delta }: LeasedLimit, sum: number): number {
  return Math.max(delta, -(cost + sum))
}

/** The states after adding `amounts` to what was taken at `takenAt`. Undefined if nothing changed. */
export function correct(
  before: SubjectState,
  limits: readonly LeasedLimit[],
  amounts: readonly number[],
  takenAt: number,
  now: number,
): SubjectState | undefined {
  const after = limits.map(({ name, rule }, i) => {
    const state = stateOf(before, name)
    const amount = amounts[i]!
    if (amount === 0) return { state }
    const current = state && present(state, rule, now)
    return { state: ALGORITHM[rule.algorithm].correct(current, rule, amount, takenAt, now) }
  })
  return merge(before, limits, after)
}

/** When the states no longer count and can be deleted. */
export function expiresAt(
  states: SubjectState,
  limits: readonly { name: string; rule: LimitCost['rule'] }[],
  now: number,
): number {
  let latest = now
  for (const { name, rule } of limits) {
    const { resetMs } = ALGORITHM[rule.algorithm].take(stateOf(states, name), rule, 0, now)
    latest = Math.max(latest, now + resetMs)
  }
  return latest
}
