import { KIND } from '../../../guards/rate-limit/algorithms/algorithm.js'
import { isAhead } from '../../../guards/rate-limit/algorithms/rewound.js'
import type { LeasedLimit } from '../../../guards/rate-limit/port.js'
import { MAX_UNITS } from '../../../guards/rate-limit/rule.js'
import { isUsed, type KnownLimit, ruleText, unitsAt, unitsPerMsOf } from './limit-state.js'
import { countedAt, type Form, fillAnew, isFull, startOf } from './take-forms.js'

interface Correction {
  limit: LeasedLimit
  /** Tokens to add to the consumed amount; negative to give back. */
  amount: number
  takenAt: number
  known: KnownLimit | undefined
  now: number
  /** Other writers were faster: changes that only clean up are skipped. */
  isContended: boolean
}

/**
 * The update that corrects the consumed amount in the usual cases, in the units of the rule that the state is counted
 * with. Undefined if the condition must be the whole item as it was read. Only for changes that the algorithm would
 * make.
 */
export function correctionForm(correction: Correction): Form | undefined {
  const { limit, known } = correction
  if (known !== undefined && isAhead(known.state, correction.now)) return undefined
  const [kind] = known?.rule.split(' ') ?? []
  switch (kind) {
    case undefined:
      return limit.rule.algorithm === 'token-bucket' && correction.amount > 0 ? anew(correction) : undefined
    case 'bucket':
      return ofBucket(correction)
    case 'fixed':
    case 'counter':
      return ofWindow(correction)
    default:
      return ofLog(correction)
  }
}

function anew({ limit: { name, rule }, amount, now, known }: Correction): Form {
  const units = BigInt(amount) * BigInt(rule.unitsPerToken)
  return (draft) => fillAnew(draft, name, rule, unitsAt(now, rule.unitsPerMs) + units, now, known)
}

function ofBucket(correction: Correction): Form | undefined {
  const { limit, amount, known, isContended } = correction
  const { name, rule } = limit
  const { rule: counted, state } = known!
  const now = countedAt(known!, correction.now)
  const units = BigInt(amount) * BigInt(state[3]!)
  const nowUnits = unitsAt(now, unitsPerMsOf(counted))
  const isRefilled = amount > 0 && counted === ruleText(rule)
  if (isRefilled && isFull(known!, rule, now)) return anew({ ...correction, now })
  if (!isUsed(state) && counted !== ruleText(rule)) return undefined
  // If everything is given back, the bucket is full with or without its state. Removing the state is only cleaner.
  if (BigInt(state[1]!) + units <= 0n && !isContended) return undefined
  return (draft) => {
    const full = draft.name('full', name)
    draft.require(draft.isRule(name, counted))
    if (isRefilled) draft.require(`${full} > ${draft.number(nowUnits)}`)
    if (amount > 0) draft.require(`${full} <= ${draft.number(nowUnits + BigInt(MAX_UNITS) - units)}`)
    draft.set(full, `${full} + ${draft.number(units)}`)
    if (isRefilled) draft.set(draft.name('at', name), draft.number(now))
  }
}

/** In the current window, or in the previous one where that counts too, if the count stays above zero. */
function ofWindow({ limit: { name, rule }, amount, takenAt, known, now }: Correction): Form | undefined {
  const { rule: counted, state } = known!
  const [, start, used, before] = state as [number, number, number, number]
  if (counted === ruleText(rule) && start < startOf(rule, now)) return undefined
  const isCurrent = takenAt >= start || state[0] === KIND.fixed
  const least = Math.max(0, -amount)
  if ((isCurrent ? used : before) <= least) return undefined
  return (draft) => {
    const count = draft.name(isCurrent ? 'used' : 'before', name)
    draft.require(draft.isRule(name, counted))
    draft.require(`${draft.name('start', name)} = ${draft.number(start)}`)
    draft.require(`${count} > ${draft.number(least)}`)
    draft.set(count, `${count} + ${draft.number(amount)}`)
  }
}

/** The admissions of each time have a separate entry, so that returned slots do not conflict. */
function ofLog({ limit: { name }, amount, takenAt, known }: Correction): Form | undefined {
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
