import { CatracaError } from '../../../errors.js'
import { ALGORITHMS } from '../../../rate-limit/rule.js'
import type { ConfigKey, LevelConfig, Limit, LimitMode } from '../../../rate-limit/types.js'
import { type Attribute, flag, type Item, number, text } from '../client/attributes.js'
import { limitKey, limitPrefix } from './keys.js'

const NUMBERS = {
  capacity: 'capacity',
  burst: 'burst',
  refillAmount: 'refill_amount',
  refillPeriodSeconds: 'refill_period_seconds',
} as const satisfies Partial<Record<keyof Limit, string>>
const MODES: readonly LimitMode[] = ['enforce', 'shadow']
const ON_UNAVAILABLE = ['allow', 'block'] as const

/** One flat item for each limit, with what the level says besides on each; where it names no limit, one without a name. */
export function itemsOf(key: ConfigKey, config: LevelConfig): Item[] {
  const names = Object.keys(config.limits)
  if (names.length === 0) return [{ ...limitKey(key, ''), resource: text(key.resource), ...besides(config) }]
  return names.map((name) => ({
    ...limitKey(key, name),
    resource: text(key.resource),
    limit_name: text(name),
    ...attributesOf(config.limits[name]!),
    ...besides(config),
  }))
}

function attributesOf(limit: Limit): Item {
  const item: Item = {}
  for (const [field, attribute] of Object.entries(NUMBERS)) {
    const value = limit[field as keyof typeof NUMBERS]
    if (value !== undefined) item[attribute] = number(value)
  }
  if (limit.algorithm !== undefined) item.algorithm = text(limit.algorithm)
  if (limit.mode !== undefined) item.mode = text(limit.mode)
  return item
}

function besides({ onUnavailable, autoUpdate, strictVersion }: LevelConfig): Item {
  return {
    ...(onUnavailable !== undefined && { on_unavailable: text(onUnavailable) }),
    ...(autoUpdate !== undefined && { auto_update: flag(autoUpdate) }),
    ...(strictVersion !== undefined && { strict_version: flag(strictVersion) }),
  }
}

/**
 * What the items of a level say; undefined for none. Other programs may have written them, and say different things on
 * different items of one level: then the more careful one holds.
 */
export function configOf(resource: string, items: readonly Item[]): LevelConfig | undefined {
  if (items.length === 0) return undefined
  const limits: [string, Limit][] = []
  const config: LevelConfig = { limits: {} }
  for (const item of items) {
    const name = item.SK!.S!.slice(limitPrefix(resource).length)
    if (name !== '') limits.push([name, limitOf(item)])
    const onUnavailable = oneOf(item, 'on_unavailable', ON_UNAVAILABLE)
    const autoUpdate = readFlag(item, 'auto_update')
    const strictVersion = readFlag(item, 'strict_version')
    if (onUnavailable !== undefined && config.onUnavailable !== 'block') config.onUnavailable = onUnavailable
    if (autoUpdate !== undefined) config.autoUpdate = autoUpdate && config.autoUpdate !== false
    if (strictVersion !== undefined) config.strictVersion = strictVersion || config.strictVersion === true
  }
  config.limits = Object.fromEntries(limits)
  return config
}

function limitOf(item: Item): Limit {
  const limit: Limit = {}
  for (const [field, attribute] of Object.entries(NUMBERS)) {
    const value = item[attribute]
    if (!isGiven(value)) continue
    const amount = Number(value.N)
    if (!Number.isSafeInteger(amount) || amount < 1) unreadable(attribute)
    limit[field as keyof typeof NUMBERS] = amount
  }
  const algorithm = oneOf(item, 'algorithm', ALGORITHMS)
  const mode = oneOf(item, 'mode', MODES)
  return { ...limit, ...(algorithm !== undefined && { algorithm }), ...(mode !== undefined && { mode }) }
}

function oneOf<T extends string>(item: Item, attribute: string, values: readonly T[]): T | undefined {
  const value = item[attribute]
  if (!isGiven(value)) return undefined
  return values.find((known) => known === value.S) ?? unreadable(attribute)
}

function readFlag(item: Item, attribute: string): boolean | undefined {
  const value = item[attribute]
  return isGiven(value) ? (value.BOOL ?? unreadable(attribute)) : undefined
}

/** Some programs write that there is nothing. */
const isGiven = (value: Attribute | undefined): value is Attribute =>
  value !== undefined && value.NULL === undefined

function unreadable(attribute: string): never {
  throw new CatracaError('STORE_CORRUPT', `a configuration of limits has a ${attribute} that cannot be used`)
}
