import type { GetSystemConfigAnswer } from '../../api/client.js'

export type Level = 'system' | 'resource' | 'entity'
/**
 * `defaults`: no level states it, so the default of the server applies. With `*`: the level's default for all
 * resources.
 */
export type FieldLevel = Level | 'entity:*' | 'system:*' | 'defaults'
export type LevelConfig = Omit<GetSystemConfigAnswer, 'unreadable'>
export type Limit = NonNullable<LevelConfig['limits']>[string]
export type LimitField = keyof Limit
export type ConfigField = Exclude<keyof LevelConfig, 'limits'>
export type Levels = Partial<Record<Level, LevelConfig | undefined>>

export interface Address {
  level: Level
  resource: string
  /** On the entity level only. */
  entity?: string | undefined
}

export const LIMIT_FIELDS = [
  'capacity',
  'refillPeriodSeconds',
  'burst',
  'refillAmount',
  'algorithm',
  'mode',
] as const satisfies readonly LimitField[]
export const NUMBER_FIELDS = ['capacity', 'refillPeriodSeconds', 'burst', 'refillAmount'] as const
export const ALGORITHMS = [
  'token-bucket',
  'sliding-window',
  'sliding-window-counter',
  'fixed-window',
  'concurrency',
] as const
export const MODES = ['enforce', 'shadow'] as const

/** The levels that apply when this one states nothing, strongest first. */
const BELOW: Record<Level, readonly Level[]> = {
  entity: ['resource', 'system'],
  resource: ['system'],
  system: [],
}
export const levelsBelow = (level: Level): readonly Level[] => BELOW[level]
export const levelsFrom = (level: Level): readonly Level[] => [level, ...BELOW[level]]

export function configFields(level: Level): readonly ConfigField[] {
  return level === 'system' ? ['onUnavailable', 'autoUpdate', 'strictVersion'] : ['onUnavailable']
}

export interface Said {
  /** Absent: the same as the capacity. */
  value?: string | number | undefined
  from: FieldLevel
}

/** The value of a field when only these levels apply; undefined when one of them must state it. */
export function saidOf(
  levels: Levels,
  order: readonly Level[],
  name: string,
  field: LimitField,
): Said | undefined {
  for (const level of order) {
    const value = limitOf(levels[level], name)?.[field]
    if (value !== undefined) return { value, from: level }
  }
  if (field === 'algorithm') return { value: 'token-bucket', from: 'defaults' }
  if (field === 'mode') return { value: 'enforce', from: 'defaults' }
  return field === 'burst' || field === 'refillAmount' ? { from: 'defaults' } : undefined
}

export function limitOf(config: LevelConfig | undefined, name: string): Limit | undefined {
  const limits = config?.limits ?? {}
  return Object.hasOwn(limits, name) ? limits[name] : undefined
}

/** One limit as these levels together define it; fields that no level states are absent. */
export function effectiveLimit(levels: Levels, order: readonly Level[], name: string): Limit {
  const limit: Limit = { algorithm: 'token-bucket', mode: 'enforce' }
  for (const level of [...order].reverse()) {
    const said = limitOf(levels[level], name)
    // As the server does: a lower capacity also lowers values that were stated for a larger one.
    if (said?.capacity !== undefined && limit.capacity !== undefined && said.capacity < limit.capacity) {
      if (limit.burst !== undefined) limit.burst = Math.min(limit.burst, said.capacity)
      if (limit.refillAmount !== undefined) limit.refillAmount = Math.min(limit.refillAmount, said.capacity)
    }
    Object.assign(limit, said)
  }
  const { capacity } = limit
  // A bucket holds at least its capacity.
  if (capacity !== undefined) {
    limit.burst = Math.max(limit.burst ?? capacity, capacity)
    limit.refillAmount ??= capacity
  }
  return limit
}

export function limitNames(levels: Levels, order: readonly Level[]): string[] {
  return [...new Set(order.flatMap((level) => Object.keys(levels[level]?.limits ?? {})))]
}

export interface NamedLimit {
  name: string
  limit: Limit
  /** Every level that states it. */
  from: Level[]
}

export function effectiveLimits(levels: Levels, order: readonly Level[]): NamedLimit[] {
  return limitNames(levels, order).map((name) => ({
    name,
    limit: effectiveLimit(levels, order, name),
    from: order.filter((level) => limitOf(levels[level], name) !== undefined),
  }))
}

export interface Difference {
  /** Empty for fields that belong to no limit. */
  limit: string
  field: LimitField | ConfigField | 'limit'
  before: string | number | boolean | undefined
  after: string | number | boolean | undefined
}

/** The changes, field by field. A limit without fields is one `limit` that is added or removed. */
export function differences(
  before: LevelConfig | undefined,
  after: LevelConfig | undefined,
  level: Level,
): Difference[] {
  const found: Difference[] = []
  for (const name of limitNames({ entity: before, resource: after }, ['entity', 'resource'])) {
    const [old, next] = [limitOf(before, name), limitOf(after, name)]
    const changed = LIMIT_FIELDS.filter((field) => old?.[field] !== next?.[field])
    for (const field of changed)
      found.push({ limit: name, field, before: old?.[field], after: next?.[field] })
    if (changed.length === 0 && (old === undefined) !== (next === undefined)) {
      found.push({ limit: name, field: 'limit', before: old && name, after: next && name })
    }
  }
  for (const field of configFields(level)) {
    if (before?.[field] !== after?.[field]) {
      found.push({ limit: '', field, before: before?.[field], after: after?.[field] })
    }
  }
  return found
}

const encoded = encodeURIComponent

export const resourcePath = (resource: string): string => `/limits/resources/${encoded(resource)}`
export const entityPath = (entity: string, resource: string): string =>
  `/limits/entities/${encoded(entity)}/${encoded(resource)}`

/** Path of the page that edits the configuration of a level. */
export function editPath({ level, resource, entity }: Address): string {
  return level === 'entity'
    ? `${entityPath(entity ?? '', resource)}/edit`
    : `${resourcePath(resource)}/edit/${level}`
}

/** Path of the page of the entity or the resource. */
export function homePath({ level, resource, entity }: Address): string {
  return level === 'entity' ? entityPath(entity ?? '', resource) : resourcePath(resource)
}

/** The path of the API. */
export function apiPath({ level, resource, entity }: Address): string {
  if (level === 'entity') return `/config/entities/${encoded(entity ?? '')}/${encoded(resource)}`
  return `/config/${level === 'system' ? 'system' : 'resources'}/${encoded(resource)}`
}
