import { CatracaError } from '../errors.js'
import type {
  EffectiveLimit,
  FieldLevel,
  LevelConfig,
  Limit,
  OnUnavailable,
  ResolvedConfig,
  Subject,
} from './types.js'

/** What a level says, from the one that wins to the one that loses. */
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
  onUnavailable: OnUnavailable
  autoUpdate: boolean
  strictVersion: boolean
}

/** Field by field, the first layer that says something wins. Undefined when no layer names a limit. */
export function resolve(
  { entity, resource }: Subject,
  layers: readonly Layer[],
  defaults: Defaults,
): ResolvedConfig | undefined {
  const names = new Set(layers.flatMap(({ config }) => Object.keys(config?.limits ?? {})))
  if (names.size === 0) return undefined
  const limits: ResolvedConfig['limits'] = {}
  const levels: ResolvedConfig['levels']['limits'] = {}
  for (const name of names) {
    const [limit, from] = resolveLimit(name, layers, resource)
    limits[name] = limit
    levels[name] = from
  }
  const [onUnavailable, autoUpdate, strictVersion] = [
    pick(layers, 'onUnavailable', defaults),
    pick(layers, 'autoUpdate', defaults),
    pick(layers, 'strictVersion', defaults),
  ]
  return {
    entity,
    resource,
    limits,
    onUnavailable: onUnavailable.value as OnUnavailable,
    autoUpdate: autoUpdate.value as boolean,
    strictVersion: strictVersion.value as boolean,
    levels: {
      limits: levels,
      onUnavailable: onUnavailable.level,
      autoUpdate: autoUpdate.level,
      strictVersion: strictVersion.level,
    },
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

/** One limit, and for each field the layer it comes from; throws LIMIT_INCOMPLETE where a field is nowhere. */
export function resolveLimit(
  name: string,
  layers: readonly Layer[],
  resource: string,
): [EffectiveLimit, FieldLevels] {
  const found: Limit = {}
  const from = Object.fromEntries(LIMIT_FIELDS.map((field) => [field, 'defaults'])) as FieldLevels
  for (const { level, config } of layers) {
    const limit = config !== undefined && Object.hasOwn(config.limits, name) ? config.limits[name]! : {}
    for (const field of LIMIT_FIELDS) {
      if (found[field] !== undefined || limit[field] === undefined) continue
      ;(found as Record<string, unknown>)[field] = limit[field]
      from[field] = level
    }
  }
  const { capacity, refillPeriodSeconds } = found
  if (capacity === undefined || refillPeriodSeconds === undefined) {
    const missing = capacity === undefined ? 'capacity' : 'refillPeriodSeconds'
    throw new CatracaError('LIMIT_INCOMPLETE', `no level says ${missing} of the limit ${name} of ${resource}`)
  }
  const limit = {
    capacity,
    // A level that raises the capacity above an inherited burst wants at least that.
    burst: Math.max(found.burst ?? capacity, capacity),
    refillAmount: found.refillAmount ?? capacity,
    refillPeriodSeconds,
    algorithm: found.algorithm ?? 'token-bucket',
    mode: found.mode ?? 'enforce',
  }
  return [limit, from]
}
