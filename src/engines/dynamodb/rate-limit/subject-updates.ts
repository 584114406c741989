import { KIND, type LimitState, type LimitView } from '../../../guards/rate-limit/algorithms/algorithm.js'
import { ALGORITHM } from '../../../guards/rate-limit/algorithms/index.js'
import { rewound } from '../../../guards/rate-limit/algorithms/rewound.js'
import {
  correct,
  type Decision,
  rewind,
  type SubjectState,
  stateOf,
} from '../../../guards/rate-limit/decide.js'
import type { LeasedLimit, LimitCost } from '../../../guards/rate-limit/port.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'
import { correctionForm } from './correction-forms.js'
import { Draft } from './draft.js'
import {
  attributesOf,
  type CachedSubject,
  isUsed,
  type KnownLimit,
  ruleText,
  statesOf,
  unitsPerMsOf,
  writeState,
} from './limit-state.js'
import { denyForm, type Form, takeForm } from './take-forms.js'

interface Named {
  name: string
  rule: Rule
}

/** The rule text that the states will be counted with. */
type RuleTexts = (limit: Named) => string

const asAsked: RuleTexts = ({ rule }) => ruleText(rule)
/** A correction does not change the rule while something is counted with it: the rule of a lease may be older. */
const asCounted =
  ({ limits }: CachedSubject): RuleTexts =>
  ({ name, rule }) => {
    const known = limits.get(name)
    return known !== undefined && isUsed(known.state) ? known.rule : ruleText(rule)
  }

/** The update that carries out a decision; undefined if it changes nothing. */
export function draftTake(
  known: CachedSubject,
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
  const draft = apply(forms) ?? replaceTaken(known, asked, taken, states ?? statesOf(known))
  draft.keepUntil(known, endOf(taken, states ?? [], asAsked, now))
  return draft
}

interface DraftedCorrection {
  /** Undefined if there is nothing left to correct. */
  draft: Draft | undefined
  states: SubjectState | undefined
  /** It depends on more than its conditions check, so the item must be read. */
  mustBeSeen: boolean
}

/** Like `draftTake`, for a correction. */
export function draftCorrection(
  known: CachedSubject,
  limits: readonly LeasedLimit[],
  amounts: readonly number[],
  takenAt: number,
  now: number,
  isContended: boolean,
): DraftedCorrection {
  const before = statesOf(known)
  const states = correct(before, limits, amounts, takenAt, now)
  const given = limits
    .map((limit, i) => ({ limit, amount: amounts[i]! }))
    .filter(({ amount }) => amount !== 0)
  // Amounts of an earlier window stay as they are, and must not prevent the other corrections.
  const changed = given.filter(({ limit, amount }) => correct(before, [limit], [amount], takenAt, now))
  if (states === undefined || changed.length === 0) return { draft: undefined, states, mustBeSeen: true }
  const forms = changed.map(({ limit, amount }) =>
    correctionForm({ limit, amount, takenAt, known: known.limits.get(limit.name), now, isContended }),
  )
  const named = changed.map(({ limit }) => limit)
  const byForms = apply(forms)
  const draft = byForms ?? replace(known, named, states, asCounted(known))
  draft.keepUntil(known, endOf(named, states, asCounted(known), now))
  return { draft, states, mustBeSeen: byForms === undefined || changed.length < given.length }
}

function apply(forms: readonly (Form | undefined)[]): Draft | undefined {
  if (forms.some((form) => form === undefined)) return undefined
  const draft = new Draft()
  for (const form of forms) form!(draft)
  return draft
}

/** A limit in shadow mode of which nothing is taken keeps its rule: its state changes only if the clock was set back. */
function replaceTaken(
  known: CachedSubject,
  asked: readonly LimitCost[],
  taken: readonly LimitCost[],
  states: SubjectState,
): Draft {
  const replaced = asked.filter((limit) => taken.includes(limit) || known.limits.has(limit.name))
  return replace(known, replaced, states, (limit) =>
    taken.some(({ name }) => name === limit.name) ? ruleText(limit.rule) : known.limits.get(limit.name)!.rule,
  )
}

/** Writes states as they were decided, if nobody has written since. */
function replace(
  known: CachedSubject,
  limits: readonly Named[],
  states: SubjectState,
  textOf: RuleTexts,
): Draft {
  const draft = new Draft()
  draft.requireUnchanged(known)
  for (const limit of limits) {
    const { name } = limit
    const item = writeState(name, textOf(limit), stateOf(states, name))
    for (const attribute in item) draft.set(draft.plain(attribute), draft.value(item[attribute]!))
    for (const attribute of attributesOf(name, known.limits.get(name))) {
      if (item[attribute] === undefined) draft.remove(draft.plain(attribute))
    }
  }
  return draft
}

/** When the limits expire, whatever other callers have consumed since they were read. */
function endOf(limits: readonly Named[], states: SubjectState, textOf: RuleTexts, now: number): number {
  let end = now
  for (const limit of limits) {
    const { name, rule } = limit
    const longestMs =
      rule.algorithm === 'token-bucket'
        ? Math.ceil((rule.capacity * rule.unitsPerToken) / rule.unitsPerMs)
        : 2 * rule.periodMs
    end = Math.max(end, now + longestMs, endOfState(textOf(limit), stateOf(states, name)))
  }
  return end
}

/** For debts of a bucket, and states of another rule than that of a lease. */
function endOfState(rule: string, state: LimitState | undefined): number {
  if (state === undefined) return 0
  switch (state[0]) {
    case KIND.bucket:
      return state[2]! + Math.ceil(state[1]! / unitsPerMsOf(rule))
    case KIND.fixed:
      return state[1]! + state[3]!
    case KIND.counter:
      return state[1]! + 2 * state[4]!
    default:
      return 0
  }
}

/** Moves states to the present whose clock was set back; undefined where none is. */
export function draftRewind(
  known: CachedSubject,
  limits: readonly LimitCost[],
  now: number,
): Draft | undefined {
  const after = rewind(statesOf(known), limits, now)
  if (after === undefined) return undefined
  const draft = new Draft()
  draft.requireUnchanged(known)
  for (const [name, state] of after) {
    const item = writeState(name, known.limits.get(name)!.rule, state)
    for (const attribute in item) draft.set(draft.plain(attribute), draft.value(item[attribute]!))
  }
  return draft
}

/** What is left after a decision, from the resulting item. */
export function viewsAfter(
  known: CachedSubject,
  limits: readonly LimitCost[],
  decided: Decision['views'][number],
  now: number,
): LimitView[] {
  const states = statesOf(known)
  return limits.map(({ name, rule, cost }, i) => {
    const isTaken = decided[i]!.retryAfterMs === 0
    const state = stateOf(states, name)
    const { remaining, resetMs, retryAfterMs } = ALGORITHM[rule.algorithm].take(
      state && rewound(state, now),
      rule,
      isTaken ? 0 : cost,
      now,
    )
    return { remaining, resetMs, retryAfterMs }
  })
}

/** The mark of an item that was written and not read since: no update may replace its states. */
const UNSEEN = '?'

/** The expected item after a write that did not return it. */
export function guessAfter(
  known: CachedSubject,
  limits: readonly Named[],
  states: SubjectState | undefined,
): CachedSubject {
  if (states === undefined) return { ...known, mark: UNSEEN }
  const rules = new Map(limits.map((limit) => [limit.name, asCounted(known)(limit)]))
  const after = new Map<string, KnownLimit>()
  for (const [name, state] of states) {
    after.set(name, { rule: rules.get(name) ?? known.limits.get(name)!.rule, state })
  }
  return { mark: UNSEEN, ttl: known.ttl, limits: after }
}
