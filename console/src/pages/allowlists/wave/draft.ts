import type { Texts } from '../../../texts/en.js'
import type { Rule, Step, Strategy } from './rule.js'
import { fromInput, toInput } from './zoned.js'

/** The text of a field, and its value. A field that was not edited keeps exactly the saved value. */
export interface Typed {
  text: string
  value: number | undefined
}

export interface DraftStep {
  key: number
  at: Typed
  share: Typed
}

/** The rule while it is edited. Fields of other strategies are kept until it is saved. */
export interface Draft {
  strategy: Strategy
  share: Typed
  ramp: DraftStep[]
  start: Typed
  end: Typed
  customers: string
  base: string | undefined
  exclude: string[]
}

export type Problems = Partial<Record<string, string>>

const MAX_CUSTOMERS = 5_000
let lastKey = 0

export function timeOf(value: number | undefined, zone: string): Typed {
  return { text: value === undefined ? '' : toInput(value, zone), value }
}

export function typedTime(text: string, zone: string): Typed {
  return { text, value: fromInput(text, zone) }
}

export function shareOf(value: number | undefined): Typed {
  return { text: value === undefined ? '' : String(Math.round(value * 1e8) / 1e6), value }
}

export function typedShare(text: string): Typed {
  const percent = text.trim() === '' ? Number.NaN : Number(text)
  const valid = percent >= 0 && percent <= 100
  return { text, value: valid ? Math.round(percent * 1e6) / 1e8 : undefined }
}

export function stepOf({ at, percentage }: Step, zone: string): DraftStep {
  return { key: ++lastKey, at: timeOf(at, zone), share: shareOf(percentage) }
}

export function draftOf(rule: Rule, zone: string): Draft {
  return {
    strategy: rule.strategy,
    share: shareOf(rule.percentage ?? 0),
    ramp: (rule.ramp ?? []).map((step) => stepOf(step, zone)),
    start: timeOf(rule.startTime, zone),
    end: timeOf(rule.endTime, zone),
    customers: (rule.customerIds ?? []).join('\n'),
    base: rule.base,
    exclude: rule.exclude ?? [],
  }
}

/** The same moments in another time zone. */
export function inZone(draft: Draft, zone: string): Draft {
  const moved = (typed: Typed): Typed => (typed.value === undefined ? typed : timeOf(typed.value, zone))
  return {
    ...draft,
    start: moved(draft.start),
    end: moved(draft.end),
    ramp: draft.ramp.map((step) => ({ ...step, at: moved(step.at) })),
  }
}

export function customersOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))]
}

/** The rule that would be saved; wrong fields are left out. */
export function ruleOf(draft: Draft): Rule {
  const { strategy, start, end, base, exclude } = draft
  const ramp = draft.ramp
    .filter(({ at, share }) => at.value !== undefined && share.value !== undefined)
    .map(({ at, share }) => ({ at: at.value!, percentage: share.value! }))
  return {
    strategy,
    ...(strategy === 'PERCENTAGE' && { percentage: draft.share.value ?? 0 }),
    ...(strategy === 'PERCENTAGE' && ramp.length > 0 && { ramp }),
    ...(strategy === 'EXPLICIT_LIST' && { customerIds: customersOf(draft.customers) }),
    ...(start.value !== undefined && { startTime: start.value }),
    ...(end.value !== undefined && { endTime: end.value }),
    ...(base !== undefined && { base }),
    ...(exclude.length > 0 && { exclude }),
  }
}

/** Errors by field name; steps of the ramp are `at KEY` and `share KEY`. */
export function problemsOf(draft: Draft, texts: Texts['waves']['errors']): Problems {
  const problems: Problems = {}
  const { strategy, start, end, base, exclude } = draft
  if (strategy === 'PERCENTAGE') Object.assign(problems, rampProblems(draft, texts))
  if (strategy === 'PERCENTAGE' && draft.share.value === undefined) problems.share = texts.share
  if (start.text !== '' && start.value === undefined) problems.start = texts.time
  if (end.text !== '' && end.value === undefined) problems.end = texts.time
  if (start.value !== undefined && end.value !== undefined && end.value <= start.value)
    problems.end = texts.window
  if (strategy === 'TIME_WINDOW' && start.value === undefined && end.value === undefined)
    problems.start ??= texts.windowMissing
  if (strategy === 'EXPLICIT_LIST' && customersOf(draft.customers).length > MAX_CUSTOMERS)
    problems.customers = texts.tooMany
  if (base !== undefined && exclude.includes(base)) problems.base = texts.baseExcluded
  return problems
}

function rampProblems({ ramp }: Draft, texts: Texts['waves']['errors']): Problems {
  const problems: Problems = {}
  let latest = Number.NEGATIVE_INFINITY
  for (const { key, at, share } of ramp) {
    if (share.value === undefined) problems[`share ${key}`] = texts.share
    if (at.value === undefined) problems[`at ${key}`] = texts.time
    else if (at.value <= latest) problems[`at ${key}`] = texts.order
    latest = Math.max(latest, at.value ?? latest)
  }
  return problems
}

const STRIDES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1]
/** A step by more than this, in shares, leaves no time to see what goes wrong. */
export const LARGEST_STRIDE = 0.5

/** The next step after the present end of the ramp. */
export function nextShare({ ramp, share }: Draft): number {
  const reached = (ramp.at(-1)?.share ?? share).value ?? 0
  return STRIDES.find((stride) => stride > reached) ?? 1
}

/** Warnings about values that can be saved but may be mistakes, by the key of the step. */
export function warningsOf(draft: Draft, texts: Texts['waves']['warnings']): Problems {
  const warnings: Problems = {}
  if (draft.strategy !== 'PERCENTAGE') return warnings
  let before = draft.share.value
  for (const { key, share } of draft.ramp) {
    if (before !== undefined && share.value !== undefined) {
      if (share.value < before) warnings[key] = texts.drop
      else if (share.value - before > LARGEST_STRIDE) warnings[key] = texts.jump
    }
    before = share.value ?? before
  }
  return warnings
}

/** Absent fields and empty fields mean the same. */
export function sameRule(one: Rule, other: Rule): boolean {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other))
}

function plain(rule: Rule): unknown {
  const { strategy, startTime, endTime, base } = rule
  return [
    strategy,
    strategy === 'PERCENTAGE' ? (rule.percentage ?? 0) : null,
    strategy === 'PERCENTAGE' ? (rule.ramp ?? []).map(({ at, percentage }) => [at, percentage]) : null,
    strategy === 'EXPLICIT_LIST' ? (rule.customerIds ?? []) : null,
    startTime ?? null,
    endTime ?? null,
    base ?? null,
    rule.exclude ?? [],
  ]
}
