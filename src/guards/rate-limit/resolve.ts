import { CatracaError } from '../../core/errors.js'
import type {
  Capped,
  CappedFields,
  EffectiveLimit,
  FieldLevel,
  LevelConfig,
  Limit,
  LimitsOnUnavailable,
  ResolvedConfig,
} from './types.js'

/** The configuration of one level. Layers are ordered by priority, highest first. */
export type Layer = { level: FieldLevel; config: LevelConfig | undefined }

const LIMIT_FIELDS = [
  'capacity',
  'burst',
  'refillAmount',
  'refillPeriodSeconds',
  'algorithm',
  'mode',
] as const

export interface Defaults {
  onUnavailable: LimitsOnUnavailable
  autoUpdate: boolean
  strictVersion: boolean
}

/** For each field, the first layer that sets it wins. Undefined when no layer names a limit. */
export function resolve(
  { entity, resource }: { entity?: string; resource: string },
  layers: readonly Layer[],
  defaults: Defaults,
): ResolvedConfig | undefined {
  const unreadable: Record<string, string> = Object.assign(
    {},
    ...layers.map(({ config }) => config?.unreadable),
  )
  const names = new Set(layers.flatMap(({ config }) => Object.keys(config?.limits ?? {})))
  for (const name of Object.keys(unreadable)) names.delete(name)
  if (names.size === 0 && Object.keys(unreadable).length === 0) return undefined
  const limits: ResolvedConfig['limits'] = {}
  const levels: ResolvedConfig['levels']['limits'] = {}
  const capped: Record<string, CappedFields> = {}
  for (const name of names) {
    const found = resolveLimit(name, layers, resource)
    limits[name] = found.limit
    levels[name] = found.from
    if (Object.keys(found.capped).length > 0) capped[name] = found.capped
  }
  const [onUnavailable, autoUpdate, strictVersion] = [
    pick(layers, 'onUnavailable', defaults),
    pick(layers, 'autoUpdate', defaults),
    pick(layers, 'strictVersion', defaults),
  ]
  return {
    ...(entity !== undefined && { entity }),
    resource,
    limits,
    onUnavailable: onUnavailable.value as LimitsOnUnavailable,
    autoUpdate: autoUpdate.value as boolean,
    strictVersion: strictVersion.value as boolean,
    levels: {
      limits: levels,
      onUnavailable: onUnavailable.level,
      autoUpdate: autoUpdate.level,
      strictVersion: strictVersion.level,
    },
    ...(Object.keys(capped).length > 0 && { capped }),
    ...(Object.keys(unreadable).length > 0 && { unreadable }),
  }
}

function pick(layers: readonly Layer[], field: keyof Defaults, defaults: Defaults) {
  for (const { level, config } of layers) {
    const value = config?.[field]
    if (value !== undefined) return { value, level }
  }
  return { value: defaults[field], level: 'defaults' as const }
}

type FieldLevels = Record<keyof EffectiveLimit, FieldLevel>

/** Numbers that depend on the capacity: values meant for a larger capacity would defeat a smaller one. */
const CAPPED_FIELDS = ['burst', 'refillAmount'] as const

export interface ResolvedLimit {
  limit: EffectiveLimit
  /** The level that sets each field. */
  from: FieldLevels
  capped: CappedFields
}

/** Resolves one limit over all layers. Throws LIMIT_INCOMPLETE if no layer sets a required field. */
export function resolveLimit(name: string, layers: readonly Layer[], resource: string): ResolvedLimit {
  const found: Limit = {}
  const from = Object.fromEntries(LIMIT_FIELDS.map((field) => [field, 'defaults'])) as FieldLevels
  const capped: CappedFields = {}
  const stated = layers.map(({ config }) =>
    config !== undefined && Object.hasOwn(config.limits, name) ? config.limits[name]! : {},
  )
  const isExact = stated.some(({ capacity }, i) => capacity !== undefined && isOfResource(layers[i]!.level))
  // From lowest to highest priority, so that each layer sees what it overrides.
  for (let i = layers.length - 1; i >= 0; i--) {
    const { level } = layers[i]!
    const limit = isExact && isForAll(level) ? numbersOf(stated[i]!) : stated[i]!
    if (limit.capacity !== undefined) cap(found, from, capped, limit.capacity, level)
    for (const field of LIMIT_FIELDS) {
      if (limit[field] === undefined) continue
      ;(found as Record<string, unknown>)[field] = limit[field]
      from[field] = level
      if (field === 'burst' || field === 'refillAmount') delete capped[field]
    }
  }
  return { limit: complete(found, name, resource), from, capped }
}

/** A level that lowers the capacity also lowers inherited values that were meant for a larger capacity. */
function cap(
  found: Limit,
  from: FieldLevels,
  capped: Record<string, Capped>,
  capacity: number,
  by: FieldLevel,
): void {
  const isLower = found.capacity !== undefined && capacity < found.capacity
  for (const field of CAPPED_FIELDS) {
    const inherited = found[field]
    const isCapped = isLower || (isForAll(from[field]) && !isForAll(by))
    if (inherited === undefined || inherited <= capacity || !isCapped) continue
    capped[field] = { stated: capped[field]?.stated ?? inherited, by }
    found[field] = capacity
  }
}

function complete(found: Limit, name: string, resource: string): EffectiveLimit {
  const { capacity, refillPeriodSeconds } = found
  if (capacity === undefined || refillPeriodSeconds === undefined) {
    const missing = capacity === undefined ? 'capacity' : 'refillPeriodSeconds'
    throw new CatracaError(
      'LIMIT_INCOMPLETE',
      `no level states ${missing} of the limit ${name} of ${resource}`,
    )
  }
  return {
    capacity,
    // A level that raises the capacity above an inherited burst raises the burst too.
    burst: Math.max(found.burst ?? capacity, capacity),
    refillAmount: found.refillAmount ?? capacity,
    refillPeriodSeconds,
    algorithm: found.algorithm ?? 'token-bucket',
    mode: found.mode ?? 'enforce',
  }
}

const isForAll = (level: FieldLevel): boolean => level === 'entity:*' || level === 'system:*'
const isOfResource = (level: FieldLevel): boolean => !isForAll(level) && level !== 'defaults'

/**
 * If a limit has its own capacity, it inherits only missing numbers from the default for all resources. An
 * inherited algorithm or shadow mode could loosen what its resource configures.
 */
function numbersOf({ algorithm: _, mode: __, ...numbers }: Limit): Limit {
  return numbers
}
