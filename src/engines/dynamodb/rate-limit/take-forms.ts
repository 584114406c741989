import { isAhead } from '../../../guards/rate-limit/algorithms/rewound.js'
import type { LimitCost } from '../../../guards/rate-limit/port.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'
import { number, text } from '../client/attributes.js'
import type { Draft } from './draft.js'
import { isUsed, type KnownLimit, ruleText, unitsAt } from './limit-state.js'

/**
 * DynamoDB has neither `max` nor arithmetic in conditions, so no single update can consume from a limit in every
 * state. There are several forms, each with a condition under which it does what the algorithm does. The last known
 * item decides which form to send. Conditions are thresholds where possible: several callers can meet them at the
 * same time, and a call need not be repeated because another was admitted.
 */
export type Form = (draft: Draft) => void

export interface TakeRequest {
  limit: LimitCost
  known: KnownLimit | undefined
  now: number
  /** Other writers were faster: changes that only clean up are skipped. */
  isContended: boolean
}

/** Consumes the cost. Undefined if the condition must be the whole item as it was read. */
export function takeForm(asked: TakeRequest): Form | undefined {
  if (asked.known !== undefined && isAhead(asked.known.state, asked.now)) return undefined
  switch (asked.limit.rule.algorithm) {
    case 'token-bucket':
      return takeOfBucket(asked)
    case 'fixed-window':
      return takeOfFixed(asked)
    case 'sliding-window-counter':
      return takeOfCounter(asked)
    default:
      return takeOfLog(asked)
  }
}

/** Changes nothing, and checks that there is no room: for limits in shadow mode. */
export function denyForm(asked: TakeRequest): Form | undefined {
  const { limit, known, now } = asked
  const { name, rule, cost } = limit
  if (known?.rule !== ruleText(rule) || isAhead(known.state, now)) return undefined
  switch (rule.algorithm) {
    case 'token-bucket':
      return (draft) => {
        draft.require(draft.isRule(name, known.rule))
        draft.require(
          `${draft.name('full', name)} > ${draft.number(lastFull(rule, cost, countedAt(known, now)))}`,
        )
      }
    case 'fixed-window':
      return (draft) => {
        draft.require(draft.isRule(name, known.rule))
        draft.require(`${draft.name('start', name)} >= ${draft.number(startOf(rule, now))}`)
        draft.require(`${draft.name('used', name)} > ${draft.number(rule.capacity - cost)}`)
      }
    default:
      return undefined
  }
}

/** The latest `full` time, in units, at which a bucket has room for the cost. */
const lastFull = (rule: Rule, cost: number, now: number): bigint =>
  unitsAt(now, rule.unitsPerMs) + BigInt((rule.capacity - cost) * rule.unitsPerToken)

/** The clock of another caller may be a little ahead. If time goes back, no time has passed. */
export const countedAt = ({ state }: KnownLimit, now: number): number =>
  isUsed(state) ? Math.max(now, state[2]!) : now

function takeOfBucket({ limit: { name, rule, cost }, known, now: asked }: TakeRequest): Form | undefined {
  const wanted = ruleText(rule)
  const units = BigInt(cost * rule.unitsPerToken)
  const now = known?.rule === wanted ? countedAt(known, asked) : asked
  const nowUnits = unitsAt(now, rule.unitsPerMs)
  if (known === undefined || (known.rule === wanted && isFull(known, rule, now))) {
    return (draft) => fillAnew(draft, name, rule, nowUnits + units, now, known)
  }
  if (known.rule !== wanted) return undefined
  return (draft) => {
    const full = draft.name('full', name)
    const last = draft.number(lastFull(rule, cost, now))
    draft.require(draft.isRule(name, wanted))
    draft.require(`${full} BETWEEN ${draft.number(nowUnits)} AND ${last}`)
    draft.set(full, `${full} + ${draft.number(units)}`)
    draft.set(draft.name('at', name), draft.number(now))
  }
}

export const isFull = ({ state }: KnownLimit, rule: Rule, now: number): boolean =>
  state[1]! - Math.max(0, now - state[2]!) * rule.unitsPerMs <= 0

/** For a bucket that is full now, or unknown: sets when it will be full again. */
export function fillAnew(
  draft: Draft,
  name: string,
  rule: Rule,
  full: bigint,
  now: number,
  known: KnownLimit | undefined,
): void {
  // If the last write has a later time, a bucket that was full then is full.
  const fullAt = known?.rule === ruleText(rule) ? Math.max(now, known.state[2]!) : now
  const fullUnits = draft.number(unitsAt(fullAt, rule.unitsPerMs))
  const isRule = draft.isRule(name, ruleText(rule))
  draft.require(`${draft.isAbsent(name)} OR (${isRule} AND ${draft.name('full', name)} <= ${fullUnits})`)
  draft.set(draft.name('rule', name), draft.value(text(ruleText(rule))))
  draft.set(draft.name('full', name), draft.number(full))
  draft.set(draft.name('at', name), draft.number(now))
}

export const startOf = ({ periodMs }: Rule, now: number): number => now - (now % periodMs)

function takeOfFixed({ limit: { name, rule, cost }, known, now }: TakeRequest): Form | undefined {
  const wanted = ruleText(rule)
  const start = startOf(rule, now)
  if (known === undefined || (known.rule === wanted && known.state[1]! < start)) {
    return (draft) => {
      const isOver = `${draft.name('start', name)} < ${draft.number(start)}`
      draft.require(`${draft.isAbsent(name)} OR (${draft.isRule(name, wanted)} AND ${isOver})`)
      draft.set(draft.name('rule', name), draft.value(text(wanted)))
      draft.set(draft.name('start', name), draft.number(start))
      draft.set(draft.name('used', name), draft.number(cost))
    }
  }
  if (known.rule !== wanted) return undefined
  return (draft) => {
    const used = draft.name('used', name)
    draft.require(draft.isRule(name, wanted))
    draft.require(`${draft.name('start', name)} >= ${draft.number(start)}`)
    draft.require(`${used} <= ${draft.number(rule.capacity - cost)}`)
    draft.set(used, `${used} + ${draft.number(cost)}`)
  }
}

function takeOfCounter(asked: TakeRequest): Form | undefined {
  const { limit, known, now } = asked
  const { name, rule, cost } = limit
  const wanted = ruleText(rule)
  const start = startOf(rule, now)
  if (known !== undefined && known.rule !== wanted) return undefined
  const stored = known?.state[1]
  if (stored !== undefined && stored >= start) return (draft) => addToWindow(draft, asked)
  if (stored === start - rule.periodMs) return (draft) => turnWindow(draft, asked)
  return (draft) => {
    const isOver = `${draft.name('start', name)} < ${draft.number(start - rule.periodMs)}`
    draft.require(`${draft.isAbsent(name)} OR (${draft.isRule(name, wanted)} AND ${isOver})`)
    draft.set(draft.name('rule', name), draft.value(text(wanted)))
    draft.set(draft.name('start', name), draft.number(start))
    draft.set(draft.name('used', name), draft.number(cost))
    draft.set(draft.name('before', name), draft.number(0))
  }
}

/** Within a window the previous count does not change, and the current one has a threshold. */
function addToWindow(draft: Draft, { limit: { name, rule, cost }, known, now }: TakeRequest): void {
  const [, start, , before] = known!.state as [number, number, number, number]
  const { periodMs, capacity } = rule
  const faded = before * (periodMs - Math.max(0, now - start))
  const most = Math.floor((capacity * periodMs - faded) / periodMs) - cost
  const used = draft.name('used', name)
  draft.require(draft.isRule(name, known!.rule))
  draft.require(`${draft.name('start', name)} = ${draft.number(start)}`)
  draft.require(`${draft.name('before', name)} = ${draft.number(before)}`)
  draft.require(`${used} <= ${draft.number(most)}`)
  draft.set(used, `${used} + ${draft.number(cost)}`)
}

/** The current window becomes the previous one, with whatever count it has. */
function turnWindow(draft: Draft, { limit: { name, rule, cost }, now }: TakeRequest): void {
  const { periodMs, capacity } = rule
  const start = startOf(rule, now)
  const most = Math.floor(((capacity - cost) * periodMs) / (periodMs - (now - start)))
  const used = draft.name('used', name)
  const stored = draft.name('start', name)
  draft.require(draft.isRule(name, ruleText(rule)))
  draft.require(`${stored} = ${draft.number(start - periodMs)}`)
  draft.require(`${used} <= ${draft.number(most)}`)
  draft.set(draft.name('before', name), used)
  draft.set(used, draft.number(cost))
  draft.set(stored, draft.number(start))
}

function takeOfLog({ limit: { name, rule, cost }, known, now, isContended }: TakeRequest): Form | undefined {
  const wanted = ruleText(rule)
  if (known === undefined) {
    return (draft) => {
      draft.require(draft.isAbsent(name))
      draft.set(draft.name('rule', name), draft.value(text(wanted)))
      draft.set(draft.name('sum', name), draft.number(cost))
      draft.set(draft.name('log', name), draft.value({ M: { [String(now)]: number(cost) } }))
    }
  }
  if (known.rule !== wanted || (hasEnded(known, rule, now) && !isContended)) return undefined
  // Entries that have left the window are still in the sum, so this may deny although there is room.
  if (sumOf(known) + cost > rule.capacity) return undefined
  return (draft) => {
    const sum = draft.name('sum', name)
    const entry = draft.entry(name, now)
    draft.require(draft.isRule(name, wanted))
    draft.require(`${sum} <= ${draft.number(rule.capacity - cost)}`)
    draft.set(sum, `${sum} + ${draft.number(cost)}`)
    draft.set(entry, `if_not_exists(${entry}, ${draft.number(0)}) + ${draft.number(cost)}`)
  }
}

/** Entries have left the window and are still in the item. */
export const hasEnded = ({ state }: KnownLimit, { periodMs }: Rule, now: number): boolean =>
  state.length > 1 && state[1]! <= now - periodMs

function sumOf({ state }: KnownLimit): number {
  let sum = 0
  for (let i = 2; i < state.length; i += 2) sum += state[i]!
  return sum
}
