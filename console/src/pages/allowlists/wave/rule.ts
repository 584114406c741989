import { insideWindow } from '../../../../../src/guards/allowlist/wave/common-fields.js'
import { strategyOf, type WaveConfig } from '../../../../../src/guards/allowlist/wave/strategies.js'

export type Rule = WaveConfig
export type Strategy = Rule['strategy']

/** The share that passes the rule at a time, from 0 to 1. For named customers: 1 or 0. */
export function shareNow(rule: Rule, at: number): number {
  return insideWindow(rule, at) ? (strategyOf(rule)?.shareAt(rule, at) ?? 0) : 0
}

/** The times at which the share changes, in order. */
export function turns(rule: Rule): number[] {
  const { startTime, endTime } = rule
  const steps = strategyOf(rule)?.turns(rule) ?? []
  const inside = steps.filter((at) => insideWindow(rule, at))
  // The last millisecond of the window is still inside.
  const bounds = [startTime, endTime === undefined ? undefined : endTime + 1]
  const all = [...inside, ...bounds.filter((at) => at !== undefined)]
  return [...new Set(all)].toSorted((a, b) => a - b)
}

/** The next time at which the share differs from now. */
export function nextTurn(rule: Rule, now: number): { at: number; share: number } | undefined {
  const share = shareNow(rule, now)
  const at = turns(rule).find((time) => time > now && shareNow(rule, time) !== share)
  return at === undefined ? undefined : { at, share: shareNow(rule, at) }
}

/** No customer passes, and no planned step changes that. */
export function isShut(rule: Rule, now: number): boolean {
  return shareNow(rule, now) === 0 && nextTurn(rule, now) === undefined
}

/** When the customer at this place starts to pass; undefined when never. */
export function reachedAt(rule: Rule, place: number, now: number): number | undefined {
  return turns(rule).find((at) => at > now && shareNow(rule, at) > place)
}
