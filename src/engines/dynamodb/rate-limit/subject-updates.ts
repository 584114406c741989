import { ALGORITHM } from '../../../rate-limit/algorithms/index.js'
import type { LimitState, LimitView } from '../../../rate-limit/algorithms/verdict.js'
import { correct, type Decision, type SubjectState, stateOf } from '../../../rate-limit/decide.js'
import type { LeasedLimit, LimitCost } from '../../../rate-limit/port.js'
import type { Rule } from '../../../rate-limit/rule.js'
import { correctionForm } from './correction-forms.js'
import { Draft } from './draft.js'
import { attributesOf, type Known, type KnownLimit, ruleText, statesOf, writeState } from './known.js'
import { denyForm, type Form, takeForm } from './take-forms.js'

interface Named {
  name: string
  rule: Rule
}

/** The update that makes a decision true; undefined where it changes nothing. */
export function draftTake(
  known: Known,
  limits: readonly LimitCost[],
  views: readonly LimitView[],
  states: SubjectState | undefined,
  now: number,
  isContended: boolean,
): Draft | undefined {
  const asked = limits.filter(({ cost }) => cost > 0)
  const isTaken = (limit: LimitCost) => views[limits.indexOf(limit)]!.retryAfterMs === 0
  const taken = asked.filter(isTaken)
  if (taken.length === 0) return undefined
  const forms = asked.map((limit) => {
    const question = { limit, known: known.limits.get(limit.name), now, isContended }
    return isTaken(limit) ? takeForm(question) : denyForm(question)
  })
  const draft = apply(forms) ?? replace(known, taken, states ?? statesOf(known))
  draft.keepUntil(known, endOf(taken, states ?? [], now))
  return draft
}

/** As `draftTake`, for a correction. `isSeen`: what is known was read for this call. */
export function draftCorrection(
  known: Known,
  limits: readonly LeasedLimit[],
  amounts: readonly number[],
  takenAt: number,
  now: number,
  isContended: boolean,
): { draft: Draft | undefined; states: SubjectState | undefined; isByWholeItem: boolean } {
  const states = correct(statesOf(known), limits, amounts, takenAt, now)
  const changed = limits.filter((_, i) => amounts[i] !== 0)
  const forms = changed.map((limit) =>
    correctionForm({
      limit,
      amount: amounts[limits.indexOf(limit)]!,
      takenAt,
      known: known.limits.get(limit.name),
      now,
      isContended,
    }),
  )
  const byForms = apply(forms)
  if (byForms === undefined && states === undefined) return { draft: undefined, states, isByWholeItem: true }
  const draft = byForms ?? replace(known, changed, states!)
  draft.keepUntil(known, endOf(changed, states ?? [], now))
  return { draft, states, isByWholeItem: byForms === undefined }
}

function apply(forms: readonly (Form | undefined)[]): Draft | undefined {
  if (forms.some((form) => form === undefined)) return undefined
  const draft = new Draft()
  for (const form of forms) form!(draft)
  return draft
}

/** Writes states as they were decided, if nobody has written since. */
function replace(known: Known, limits: readonly Named[], states: SubjectState): Draft {
  const draft = new Draft()
  draft.requireUnchanged(known)
  for (const { name, rule } of limits) {
    const item = writeState(name, rule, stateOf(states, name))
    for (const attribute in item) draft.set(draft.plain(attribute), draft.value(item[attribute]!))
    for (const attribute of attributesOf(name, known.limits.get(name))) {
      if (item[attribute] === undefined) draft.remove(draft.plain(attribute))
    }
  }
  return draft
}

/** When nothing of the limits counts any more, whatever others have taken of them since they were seen. */
function endOf(limits: readonly Named[], states: SubjectState, now: number): number {
  let end = now
  for (const { name, rule } of limits) {
    const { resetMs } = look(stateOf(states, name), rule, now)
    const longestMs =
      rule.algorithm === 'token-bucket'
        ? Math.ceil((rule.capacity * rule.unitsPerToken) / rule.unitsPerMs)
        : 2 * rule.periodMs
    end = Math.max(end, now + resetMs, now + longestMs)
  }
  return end
}

const look = (state: LimitState | undefined, rule: Rule, now: number): LimitView =>
  ALGORITHM[rule.algorithm].take(state, rule, 0, now)

/** What is left after a decision, by the item that it has led to. */
export function viewsAfter(
  known: Known,
  limits: readonly LimitCost[],
  decided: Decision['views'][number],
  now: number,
): LimitView[] {
  const states = statesOf(known)
  return limits.map(({ name, rule, cost }, i) => {
    const isTaken = decided[i]!.retryAfterMs === 0
    const state = stateOf(states, name)
    const { remaining, resetMs, retryAfterMs } = ALGORITHM[rule.algorithm].take(
      state,
      rule,
      isTaken ? 0 : cost,
      now,
    )
    return { remaining, resetMs, retryAfterMs }
  })
}

/** Stands for the mark of an item that was written and not seen since: nothing may be replaced by what is known of it. */
const UNSEEN = '?'

/** A guess at an item after a write that did not tell it. */
export function guessAfter(known: Known, limits: readonly Named[], states: SubjectState | undefined): Known {
  if (states === undefined) return { ...known, mark: UNSEEN }
  const rules = new Map(limits.map(({ name, rule }) => [name, ruleText(rule)]))
  const after = new Map<string, KnownLimit>()
  for (const [name, state] of states) {
    after.set(name, { rule: rules.get(name) ?? known.limits.get(name)!.rule, state })
  }
  return { mark: UNSEEN, ttl: known.ttl, limits: after }
}
