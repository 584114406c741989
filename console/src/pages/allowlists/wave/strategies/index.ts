import type { Strategy } from '../rule.js'
import { explicitList } from './explicit-list.js'
import type { CommonDraft, StrategyForm } from './form.js'
import { percentage } from './percentage.js'
import { timeWindow } from './time-window.js'

/** The form of every strategy: a strategy without one is a type error. */
const FORMS_BY_STRATEGY = {
  PERCENTAGE: percentage,
  TIME_WINDOW: timeWindow,
  EXPLICIT_LIST: explicitList,
} satisfies Record<Strategy, object>

type Takes<Form> = Form extends StrategyForm<infer Own> ? (own: Own) => void : never
type OwnDrafts = [Takes<(typeof FORMS_BY_STRATEGY)[Strategy]>] extends [(all: infer All) => void]
  ? All
  : never

/** The rule while it is edited. Fields of other strategies are kept until it is saved. */
export type Draft = CommonDraft & OwnDrafts

export const FORMS: Record<Strategy, StrategyForm<Draft>> = FORMS_BY_STRATEGY as never
export const STRATEGIES = Object.keys(FORMS) as Strategy[]
