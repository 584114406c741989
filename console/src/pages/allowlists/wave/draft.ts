import type { Texts } from '../../../texts/en.js'
import type { Rule } from './rule.js'
import { type Draft, FORMS } from './strategies/index.js'
import { movedTime, type Problems, timeOf } from './typed.js'

export function draftOf(rule: Rule, zone: string): Draft {
  return {
    ...Object.assign({}, ...Object.values(FORMS).map((form) => form.draftOf(rule, zone))),
    strategy: rule.strategy,
    start: timeOf(rule.startTime, zone),
    end: timeOf(rule.endTime, zone),
    base: rule.base,
    exclude: rule.exclude ?? [],
  }
}

/** The same moments in another time zone. */
export function inZone(draft: Draft, zone: string): Draft {
  return {
    ...draft,
    ...Object.assign({}, ...Object.values(FORMS).map((form) => form.inZone?.(draft, zone))),
    start: movedTime(draft.start, zone),
    end: movedTime(draft.end, zone),
  }
}

/** The rule that would be saved; wrong fields are left out. */
export function ruleOf(draft: Draft): Rule {
  const { strategy, start, end, base, exclude } = draft
  return {
    strategy,
    ...FORMS[strategy].ruleOf(draft),
    ...(start.value !== undefined && { startTime: start.value }),
    ...(end.value !== undefined && { endTime: end.value }),
    ...(base !== undefined && { base }),
    ...(exclude.length > 0 && { exclude }),
  }
}

/** Errors by field name. */
export function problemsOf(draft: Draft, texts: Texts['waves']['errors']): Problems {
  const { strategy, start, end, base, exclude } = draft
  const problems = { ...FORMS[strategy].problemsOf(draft, texts) }
  if (start.text !== '' && start.value === undefined) problems.start = texts.time
  if (end.text !== '' && end.value === undefined) problems.end = texts.time
  if (start.value !== undefined && end.value !== undefined && end.value <= start.value)
    problems.end = texts.window
  if (base !== undefined && exclude.includes(base)) problems.base = texts.baseExcluded
  return problems
}

/** Absent fields and empty fields mean the same. */
export function sameRule(one: Rule, other: Rule): boolean {
  return plain(one) === plain(other)
}

function plain(rule: Rule): string {
  const fields = Object.entries({ exclude: [], ...FORMS[rule.strategy].empty, ...rule })
  return JSON.stringify(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
