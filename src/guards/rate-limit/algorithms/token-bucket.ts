import { MAX_UNITS, type Rule } from '../rule.js'
import { type AlgorithmResult, KIND, type LimitAlgorithm, type LimitState } from './algorithm.js'

/**
 * State: kind, units used, the time of that count, units per token, capacity. Used units refill by `unitsPerMs`.
 * If time goes back, no time has passed: the use does not change, and nothing refills until the clock reaches the
 * old time again. So callers whose clocks differ slightly never refill a bucket twice. For a larger step back,
 * `rewound` has reset the time.
 */
function usedNow(state: LimitState | undefined, rule: Rule, now: number): number {
  if (state === undefined || state[0] !== KIND.bucket) return 0
  const used = isOf(state, rule) ? state[1]! : carryOver(state, rule)
  const left = used - Math.max(0, now - state[2]!) * rule.unitsPerMs
  return left <= 0 ? 0 : Math.min(left, MAX_UNITS)
}

/** The time from which the remaining use refills. */
const countedFrom = (state: LimitState | undefined, now: number): number =>
  state === undefined || state[0] !== KIND.bucket ? now : Math.max(now, state[2]!)

const isOf = ([kind, , , unitsPerToken, capacity]: LimitState, rule: Rule): boolean =>
  kind === KIND.bucket && unitsPerToken === rule.unitsPerToken && capacity === rule.capacity

/** The rule has changed. The used amount stays used, up to a full bucket of the new size, plus any debt. */
function carryOver(state: LimitState, rule: Rule): number {
  const [, used, , unitsPerToken, capacity] = state as [number, number, number, number, number]
  const debt = Math.max(0, used - capacity * unitsPerToken)
  const inside = Math.min(rescale(used - debt, unitsPerToken, rule.unitsPerToken), full(rule))
  return Math.min(inside + rescale(debt, unitsPerToken, rule.unitsPerToken), MAX_UNITS)
}

/** Rounds up, so that a fraction of a token is never given away. */
function rescale(units: number, from: number, to: number): number {
  if (from === to) return units
  const tokens = Math.floor(units / from)
  const rest = (units - tokens * from) * to
  return tokens * to + (rest > MAX_UNITS ? to : Math.ceil(rest / from))
}

const full = (rule: Rule): number => rule.capacity * rule.unitsPerToken

function stateOf(rule: Rule, used: number, now: number): LimitState | undefined {
  return used === 0 ? undefined : [KIND.bucket, used, now, rule.unitsPerToken, rule.capacity]
}

export const tokenBucket: LimitAlgorithm = {
  take(state, rule, cost, now): AlgorithmResult {
    const used = usedNow(state, rule, now)
    const from = countedFrom(state, now)
    const waitMs = from - now
    const wanted = used + cost * rule.unitsPerToken
    const missing = cost === 0 ? 0 : wanted - full(rule)
    if (missing > 0) {
      const retryAfterMs = Math.ceil(missing / rule.unitsPerMs) + waitMs
      return verdict(rule, state, used, waitMs, retryAfterMs)
    }
    if (cost === 0) return verdict(rule, state, used, waitMs, 0)
    return verdict(rule, stateOf(rule, wanted, from), wanted, waitMs, 0)
  },

  correct(state, rule, amount, _takenAt, now) {
    if (state !== undefined && (amount < 0 || !isOf(state, rule))) return correctInPlace(state, amount)
    const used = usedNow(state, rule, now) + amount * rule.unitsPerToken
    return stateOf(rule, Math.min(Math.max(0, used), MAX_UNITS), countedFrom(state, now))
  },
}

/**
 * A lease may be older than the rule of the state. Converting the state to the rule of the lease would cut its use
 * to the size of the old bucket. Subtracting from the stored use has the same effect as subtracting from the
 * present use, so no refill is computed.
 */
function correctInPlace(state: LimitState, amount: number): LimitState | undefined {
  const [kind, used, at, unitsPerToken, capacity] = state as [number, number, number, number, number]
  if (kind !== KIND.bucket) return state
  const left = Math.min(Math.max(0, used + amount * unitsPerToken), MAX_UNITS)
  return left === 0 ? undefined : [kind, left, at, unitsPerToken, capacity]
}

function verdict(
  rule: Rule,
  state: LimitState | undefined,
  used: number,
  waitMs: number,
  retryAfterMs: number,
): AlgorithmResult {
  return {
    state,
    remaining: Math.max(0, Math.floor((full(rule) - used) / rule.unitsPerToken)),
    resetMs: used === 0 ? 0 : Math.ceil(used / rule.unitsPerMs) + waitMs,
    retryAfterMs,
  }
}
