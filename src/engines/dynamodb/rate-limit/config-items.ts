import { ALGORITHMS } from '../../../guards/rate-limit/rule.js'
import { onUnavailableFrom } from '../../../guards/rate-limit/stored-config.js'
import type { ConfigKey, LevelConfig, Limit, LimitMode } from '../../../guards/rate-limit/types.js'
import { type Attribute, flag, type Item, number, text } from '../client/attributes.js'
import { limitKey, limitPrefix } from './keys.js'

const NUMBERS = {
  capacity: 'capacity',
  burst: 'burst',
  refillAmount: 'refill_amount',
  refillPeriodSeconds: 'refill_period_seconds',
} as const satisfies Partial<Record<keyof Limit, string>>
const MODES: readonly LimitMode[] = ['enforce', 'shadow']

/**
 * One flat item per limit, each with the other settings of the level. A level without limits has one item without a
 * limit name.
 */
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
    ...(onUnavailable !== undefined && {
      // Beside `on_unavailable`, not in it: other programs know only `allow` and `block` (see stored-config.ts).
      on_unavailable: text(onUnavailable === 'local' ? 'block' : onUnavailable),
      ...(onUnavailable === 'local' && { on_unavailable_local: flag(true) }),
    }),
    ...(autoUpdate !== undefined && { auto_update: flag(autoUpdate) }),
    ...(strictVersion !== undefined && { strict_version: flag(strictVersion) }),
  }
}

/**
 * The configuration in the items of a level; undefined for none. Other programs may have written them with different
 * settings on different items of one level: then the stricter one is used. An unusable limit is reported with the
 * reason, and does not affect the others.
 */
export function configOf(key: ConfigKey, items: readonly Item[]): LevelConfig | undefined {
  if (items.length === 0) return undefined
  const limits: [string, Limit][] = []
  const unreadable: [string, string][] = []
  const config: LevelConfig = { limits: {} }
  for (const stored of items) {
    const item = flattened(stored)
    const name = stored.SK!.S!.slice(limitPrefix(key.resource).length)
    if (name !== '') {
      const limit = limitOf(item)
      if (typeof limit === 'string')
        unreadable.push([name, `${limit} of ${stored.PK!.S} ${stored.SK!.S} cannot be used`])
      else limits.push([name, limit])
    }
    const onUnavailable = onUnavailableOf(item)
    const autoUpdate = readFlag(item, 'auto_update', false)
    const strictVersion = readFlag(item, 'strict_version', true)
    if (onUnavailable !== undefined && strictness(onUnavailable) >= strictness(config.onUnavailable))
      config.onUnavailable = onUnavailable
    if (autoUpdate !== undefined) config.autoUpdate = autoUpdate && config.autoUpdate !== false
    if (strictVersion !== undefined) config.strictVersion = strictVersion || config.strictVersion === true
  }
  config.limits = Object.fromEntries(limits)
  if (unreadable.length > 0) config.unreadable = Object.fromEntries(unreadable)
  return config
}

/** Older programs store the fields of a record in a nested map. */
function flattened(item: Item): Item {
  return item.data?.M === undefined ? item : { ...item.data.M, ...item }
}

/** The limit, or the attribute that is unusable. */
function limitOf(item: Item): Limit | string {
  if (isGiven(item.data) && item.data.M === undefined) return 'data'
  const limit: Limit = {}
  for (const [field, attribute] of Object.entries(NUMBERS)) {
    const value = item[attribute]
    if (!isGiven(value)) continue
    const amount = Number(value.N)
    if (!Number.isSafeInteger(amount) || amount < 1) return attribute
    limit[field as keyof typeof NUMBERS] = amount
  }
  if (isGiven(item.algorithm)) {
    const algorithm = ALGORITHMS.find((known) => known === item.algorithm!.S)
    if (algorithm === undefined) return 'algorithm'
    // Other programs may write a burst beside any algorithm.
    limit.algorithm = algorithm as 'token-bucket'
  }
  if (isGiven(item.mode)) {
    const mode = MODES.find((known) => known === item.mode!.S)
    if (mode === undefined) return 'mode'
    limit.mode = mode
  }
  return limit
}

/** Case-insensitive. Any other value counts as the stricter one. */
function onUnavailableOf(item: Item): LevelConfig['onUnavailable'] {
  const { on_unavailable: value } = item
  if (!isGiven(value)) return undefined
  const stored = value.S?.toLowerCase() === 'allow' ? 'allow' : 'block'
  return onUnavailableFrom(stored, readFlag(item, 'on_unavailable_local', false) === true).onUnavailable
}

const STRICTNESS = ['allow', 'local', 'block'] as const satisfies readonly LevelConfig['onUnavailable'][]
const strictness = (value: LevelConfig['onUnavailable']): number =>
  value === undefined ? -1 : STRICTNESS.indexOf(value)

/** A value that is not a boolean counts as the stricter one. */
function readFlag(item: Item, attribute: string, careful: boolean): boolean | undefined {
  const value = item[attribute]
  return isGiven(value) ? (value.BOOL ?? careful) : undefined
}

/** Some programs write NULL for a missing value. */
const isGiven = (value: Attribute | undefined): value is Attribute =>
  value !== undefined && value.NULL === undefined
