import { COMMON_FIELDS, type CommonFields } from './common-fields.js'
import { explicitList } from './explicit-list.js'
import type { Field, JsonSchema } from './field.js'
import { percentage } from './percentage.js'
import type { Strategy } from './strategy.js'
import { timeWindow } from './time-window.js'

/** Every strategy. All else that names strategies or their fields comes from here. */
export const STRATEGIES = {
  PERCENTAGE: percentage,
  TIME_WINDOW: timeWindow,
  EXPLICIT_LIST: explicitList,
}

export type WaveStrategy = keyof typeof STRATEGIES
type AnyStrategy = (typeof STRATEGIES)[WaveStrategy]
export type StrategyStep = NonNullable<AnyStrategy['step']>

// The argument of a function is contravariant: `All` is the intersection of the fields, or facts, of all strategies.
type Merged<Takes> = [Takes] extends [(all: infer All) => void] ? All : never
type TakesFields<S> = S extends Strategy<infer Own, infer _, infer __> ? (own: Own) => void : never
type TakesFacts<S> = S extends Strategy<infer _, infer __, infer Facts> ? (facts: Facts) => void : never

/** What strategies add to a step of `explain`. */
export interface StrategyFacts extends Merged<TakesFacts<AnyStrategy>> {}

/** The rule of an ONDA list. Times are epoch milliseconds. */
export interface WaveConfig extends Merged<TakesFields<AnyStrategy>>, CommonFields {
  strategy: WaveStrategy
}

type FieldName = Exclude<keyof WaveConfig, 'strategy'>

export const STRATEGY_NAMES = Object.keys(STRATEGIES) as WaveStrategy[]
const ALL: readonly AnyStrategy[] = Object.values(STRATEGIES)

export const STRATEGY_STEPS = ALL.flatMap(({ step }) => step ?? [])
export const FACT_SCHEMAS = Object.assign({}, ...ALL.map(({ facts }) => facts)) as {
  readonly [Name in keyof StrategyFacts]-?: JsonSchema
}

/** All fields of rules but the strategy. */
export const FIELDS = Object.assign({}, ...ALL.map(({ fields }) => fields), COMMON_FIELDS) as {
  readonly [Name in FieldName]: Field<unknown>
}

/** Undefined if a newer version or another program wrote the rule. */
export function strategyOf({ strategy }: { strategy: string }): AnyStrategy | undefined {
  return Object.hasOwn(STRATEGIES, strategy) ? STRATEGIES[strategy as WaveStrategy] : undefined
}

/** The strategy that these fields belong to. Fields that all strategies have do not tell it. */
export function ownerOf(fields: readonly string[]): WaveStrategy | undefined {
  return STRATEGY_NAMES.find((name) => fields.some((field) => Object.hasOwn(STRATEGIES[name].fields, field)))
}
