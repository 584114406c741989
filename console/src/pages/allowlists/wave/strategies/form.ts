import type { ReactNode } from 'react'
import type { Texts } from '../../../../texts/en.js'
import type { Rule, Strategy } from '../rule.js'
import type { Problems, Typed } from '../typed.js'
import type { Words } from '../use-words.js'

/** The fields that rules of every strategy have, while they are edited. */
export interface CommonDraft {
  strategy: Strategy
  start: Typed
  end: Typed
  base: string | undefined
  exclude: string[]
}

export interface FieldsProps<Own> {
  draft: Own
  problems: Problems
  zone: string
  disabled: boolean
  onChange(change: Partial<Own>): void
}

export interface Row {
  name: string
  before: string[]
  after: string[]
}

/** Two rules that are shown side by side. */
export interface Comparison {
  before: Rule
  after: Rule
  words: Words
  texts: Texts['waves']
  row(name: string, read: (rule: Rule) => string[]): Row
}

/** How the console shows and edits the rules of one strategy. `Own` are its fields while they are edited. */
export interface StrategyForm<Own extends object> {
  /** What a new wave begins with. It must not be open. */
  first(now: number): Omit<Rule, 'strategy'>
  /** Values that mean the same as absent fields. */
  readonly empty: Omit<Rule, 'strategy'>
  draftOf(rule: Rule, zone: string): Own
  inZone?(draft: Own, zone: string): Own
  /** Wrong fields are left out. */
  ruleOf(draft: Own): Omit<Rule, 'strategy'>
  /** Errors by field name. */
  problemsOf(draft: Own & CommonDraft, texts: Texts['waves']['errors']): Problems
  /** What can be saved but may be a mistake. */
  warningsOf?(draft: Own, texts: Texts['waves']): string[]
  Fields(props: FieldsProps<Own>): ReactNode
  /** The fields that a new wave asks for. */
  FirstFields?(props: FieldsProps<Own>): ReactNode
  rows(comparison: Comparison): Row[]
  /** It opens to a share of customers, not to all of its customers at once. */
  readonly isShare?: true
  /** How many customers the rule names. */
  named?(rule: Rule): number
  /** What a pause does. If absent, it closes the time window. */
  pauseTexts?(rule: Rule, texts: Texts['waves']['pause'], number: (value: number) => string): string[]
}
