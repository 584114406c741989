import type { FieldsOf, JsonSchema } from './field.js'

/** The customer's place in the wave, from 0 to 1. */
export type Place = (customerId: string) => number

/** Who is in while the time window is open. Customer ids are in canonical spelling, times in epoch milliseconds. */
export interface Admission<Facts = object> {
  admits(customerId: string, now: number): boolean
  /** What `explain` says beside the outcome. */
  facts?(customerId: string, now: number): Facts & { detail?: string }
}

/**
 * All that the product knows of one strategy. `Own` are the fields of the rule that belong to it alone, `Step` is its
 * step in `explain`. Browsers load it too, so it uses no module of Node.
 */
export interface Strategy<
  Own extends object,
  Step extends string | undefined,
  Facts extends object = object,
> {
  readonly fields: FieldsOf<Own>
  /** What the rule still needs. `given` are its fields before they are read. */
  missing(given: ReadonlyMap<string, unknown>): readonly [field: string, message: string] | undefined
  /** Compiled once per list, so that a check only computes. Another program may have stored `null` in a field. */
  compile(rule: Own, place: Place): Admission<Facts>
  /** Undefined if the time window says all. */
  readonly step: Step
  readonly facts: { readonly [Name in keyof Facts]-?: JsonSchema }
  /** The share of customers that is in at a time, from 0 to 1, and the times at which it changes. */
  shareAt(rule: Own, at: number): number
  turns(rule: Own): number[]
  /** The rule with all that happens after `from` moved by `byMs`. Absent: nothing is planned in its fields. */
  postponed?(rule: Own, from: number, byMs: number): Own
  /** What a result of this strategy is for the users of flags, see `flags/flag.ts`. */
  readonly flagReason: 'SPLIT' | 'TARGETING_MATCH' | 'STATIC'
  /** What a pause puts in place of all its fields. If absent, a pause closes the time window. */
  readonly closed?: Own
}
