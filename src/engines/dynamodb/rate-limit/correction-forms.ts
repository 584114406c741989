import type { LeasedLimit } from '../../../rate-limit/port.js'
import { MAX_UNITS } from '../../../rate-limit/rule.js'
import type { Draft } from './draft.js'
import { attributesOf, type KnownLimit, ruleText, unitsAt } from './known.js'
import { type Form, fillAnew, hasEnded, isFull, startOf } from './take-forms.js'

export interface Correction {
  limit: LeasedLimit
  /** Tokens to add to what was taken; negative to give back. */
  amount: number
  takenAt: number
  known: KnownLimit | undefined
  now: number
  isContended: boolean
}

/** Corrects what was taken in the usual cases; undefined where only the whole item as it was seen can be the condition. */
export function correctionForm(correction: Correction): Form | undefined {
  const { limit, known, now } = correction
  const { algorithm } = limit.rule
  if (known === undefined) {
    return algorithm === 'token-bucket' && correction.amount > 0 ? anew(correction) : undefined
  }
  if (known.rule !== ruleText(limit.rule)) return undefined
  if (algorithm === 'token-bucket') {
    if (!isFull(known, limit.rule, now)) return ofBucket(correction)
    return correction.amount > 0 ? anew(correction) : undefined
  }
  if (algorithm === 'fixed-window' || algorithm === 'sliding-window-counter') return ofWindow(correction)
  return ofLog(correction)
}

function anew({ limit: { name, rule }, amount, now }: Correction): Form {
  const units = BigInt(amount) * BigInt(rule.unitsPerToken)
  return (draft) => fillAnew(draft, name, rule, unitsAt(now, rule.unitsPerMs) + units, now)
}

function ofBucket({ limit: { name, rule }, amount, known, now }: Correction): Form | undefined {
  const units = BigInt(amount) * BigInt(rule.unitsPerToken)
  if (units > BigInt(MAX_UNITS)) return undefined
  const used = BigInt(known!.state[1]!) - unitsAt(now - known!.state[2]!, rule.unitsPerMs)
  const nowUnits = unitsAt(now, rule.unitsPerMs)
  if (used + units <= 0n) {
    return (draft) => {
      draft.require(draft.isRule(name, known!.rule))
      draft.require(`${draft.name('full', name)} <= ${draft.number(nowUnits - units)}`)
      removeAll(draft, name, known!)
    }
  }
  return (draft) => {
    const full = draft.name('full', name)
    draft.require(draft.isRule(name, known!.rule))
    draft.require(`${full} > ${draft.number(units < 0n ? nowUnits - units : nowUnits)}`)
    if (units > 0n) draft.require(`${full} <= ${draft.number(nowUnits + BigInt(MAX_UNITS) - units)}`)
    draft.set(full, `${full} + ${draft.number(units)}`)
    draft.set(draft.name('at', name), draft.number(now))
  }
}

function removeAll(draft: Draft, name: string, known: KnownLimit): void {
  for (const attribute of attributesOf(name, known)) draft.remove(draft.plain(attribute))
}

/** In the current window, or in the one before where that is counted too, as long as something stays in it. */
function ofWindow({ limit: { name, rule }, amount, takenAt, known, now }: Correction): Form | undefined {
  const [, start, used, before] = known!.state as [number, number, number, number]
  if (start < startOf(rule, now)) return undefined
  const isCurrent = takenAt >= start
  const isBefore = !isCurrent && takenAt >= start - rule.periodMs
  const isCounted = isCurrent || (isBefore && rule.algorithm === 'sliding-window-counter')
  const least = Math.max(0, -amount)
  if (!isCounted || (isCurrent ? used : before) <= least) return undefined
  return (draft) => {
    const count = draft.name(isCurrent ? 'used' : 'before', name)
    draft.require(draft.isRule(name, known!.rule))
    draft.require(`${draft.name('start', name)} = ${draft.number(start)}`)
    draft.require(`${count} > ${draft.number(least)}`)
    draft.set(count, `${count} + ${draft.number(amount)}`)
  }
}

/** What was admitted at a time has an entry of its own, so that slots that come back do not get in each other's way. */
function ofLog({
  limit: { name, rule },
  amount,
  takenAt,
  known,
  now,
  isContended,
}: Correction): Form | undefined {
  if (takenAt <= now - rule.periodMs || (hasEnded(known!, rule, now) && !isContended)) return undefined
  const held = heldAt(known!, takenAt)
  if (held === 0) return undefined
  return (draft) => {
    const sum = draft.name('sum', name)
    const entry = draft.entry(name, takenAt)
    draft.require(draft.isRule(name, known!.rule))
    if (held + amount <= 0) {
      draft.require(`${entry} = ${draft.number(held)}`)
      draft.remove(entry)
      draft.set(sum, `${sum} - ${draft.number(held)}`)
      return
    }
    draft.require(`${entry} > ${draft.number(Math.max(0, -amount))}`)
    draft.set(entry, `${entry} + ${draft.number(amount)}`)
    draft.set(sum, `${sum} + ${draft.number(amount)}`)
  }
}

function heldAt({ state }: KnownLimit, at: number): number {
  for (let i = 1; i < state.length; i += 2) if (state[i] === at) return state[i + 1]!
  return 0
}
