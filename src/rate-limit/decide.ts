import { ALGORITHM } from './algorithms/index.js'
import { isAhead, rewound } from './algorithms/rewound.js'
import type { LimitState, LimitView, Verdict } from './algorithms/verdict.js'
import type { LeasedLimit, LimitCost } from './port.js'

/** States of the limits of one subject, by name; those of which nothing is used are absent. */
export type SubjectState = readonly (readonly [name: string, state: LimitState])[]

export interface Decision {
  allowed: boolean
  views: LimitView[][]
  /** The states to keep, for each subject; undefined where nothing changed. */
  states: (SubjectState | undefined)[]
}

/** All limits of all subjects, or none: the whole decision as a pure function. */
export function decide(
  stored: readonly SubjectState[],
  subjects: readonly { limits: readonly LimitCost[] }[],
  now: number,
): Decision {
  const before = stored.map((states) => rewind(states, now))
  const verdicts = subjects.map(({ limits }, i) =>
    limits.map((limit) => judge(before[i]!, limit, limit.cost, now)),
  )
  const allowed = subjects.every(({ limits }, i) =>
    limits.every((limit, j) => limit.shadow || verdicts[i]![j]!.retryAfterMs === 0),
  )
  if (!allowed) {
    const views = subjects.map(({ limits }, i) =>
      limits.map((limit, j) => {
        const verdict = verdicts[i]![j]!
        // What would have been admitted is not taken either: told as it stands.
        return toView(verdict.retryAfterMs > 0 ? verdict : judge(before[i]!, limit, 0, now))
      }),
    )
    return { allowed, views, states: before.map((states, i) => changed(states, stored[i]!)) }
  }
  return {
    allowed,
    views: verdicts.map((ofSubject) => ofSubject.map(toView)),
    states: subjects.map(
      ({ limits }, i) => merge(before[i]!, limits, verdicts[i]!) ?? changed(before[i]!, stored[i]!),
    ),
  }
}

/** The states as they count when the clock was set back; also where nothing is taken, or they would wait for it. */
export function rewind(states: SubjectState, now: number): SubjectState {
  if (!states.some(([, state]) => isAhead(state, now))) return states
  return states.map(([name, state]) => [name, rewound(state, now)] as const)
}

const changed = (states: SubjectState, stored: SubjectState): SubjectState | undefined =>
  states === stored ? undefined : states

function judge(states: SubjectState, { name, rule }: LimitCost, cost: number, now: number): Verdict {
  return ALGORITHM[rule.algorithm].take(stateOf(states, name), rule, cost, now)
}

export function stateOf(states: SubjectState, name: string): LimitState | undefined {
  for (const [known, state] of states) if (known === name) return state
  return undefined
}

const toView = ({ remaining, resetMs, retryAfterMs }: Verdict): LimitView => ({
  remaining,
  resetMs,
  retryAfterMs,
})

function merge(
  before: SubjectState,
  limits: readonly { name: string }[],
  after: readonly { state: LimitState | undefined }[],
): SubjectState | undefined {
  if (limits.every(({ name }, i) => stateOf(before, name) === after[i]!.state)) return undefined
  const named = new Set(limits.map(({ name }) => name))
  const states: [string, LimitState][] = []
  for (const [name, state] of before) if (!named.has(name)) states.push([name, state])
  limits.forEach(({ name }, i) => {
    const { state } = after[i]!
    if (state !== undefined) states.push([name, state])
  })
  return states
}

/** What a lease holds of each limit by now: its cost and the deltas since. */
export type LeaseSums = readonly number[]

/** A delta as far as it leaves what the lease holds at 0 or above. */
export function applicableDelta({ cost, delta }: LeasedLimit, sum: number): number {
  return Math.max(delta, -(cost + sum))
}

/** The states after `amounts` were added to what was taken at `takenAt`; undefined where nothing changed. */
export function correct(
  stored: SubjectState,
  limits: readonly LeasedLimit[],
  amounts: readonly number[],
  takenAt: number,
  now: number,
): SubjectState | undefined {
  const before = rewind(stored, now)
  const after = limits.map(({ name, rule }, i) => {
    const state = stateOf(before, name)
    const amount = amounts[i]!
    return {
      state: amount === 0 ? state : ALGORITHM[rule.algorithm].correct(state, rule, amount, takenAt, now),
    }
  })
  return merge(before, limits, after)
}

/** When nothing of the states counts any more, so that they need not be kept. */
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
