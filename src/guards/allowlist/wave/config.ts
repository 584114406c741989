import { CatracaError, type FieldError, isCatracaError } from '../../../core/errors.js'
import { identifier, plainName } from '../../../core/identifiers.js'
import type { RampStep, WaveConfig, WaveStrategy } from '../types.js'

export const MAX_WAVE_CUSTOMERS = 5_000
export const MAX_RAMP_STEPS = 1_000
export const MAX_EXCLUDED_LISTS = 100
/** The last millisecond that a `Date` can hold. */
const MAX_TIME_MS = 8.64e15

const STRATEGIES: ReadonlySet<unknown> = new Set<WaveStrategy>(['PERCENTAGE', 'TIME_WINDOW', 'EXPLICIT_LIST'])
const FIELDS: ReadonlySet<string> = new Set<keyof WaveConfig>([
  'strategy',
  'percentage',
  'customerIds',
  'startTime',
  'endTime',
  'ramp',
  'base',
  'exclude',
])
const STEP_FIELDS: ReadonlySet<string> = new Set<keyof RampStep>(['at', 'percentage'])
/** Fields that belong to one strategy only. */
const BELONGS_TO: ReadonlyArray<[keyof WaveConfig, WaveStrategy]> = [
  ['percentage', 'PERCENTAGE'],
  ['ramp', 'PERCENTAGE'],
  ['customerIds', 'EXPLICIT_LIST'],
]

/**
 * Validates the rule of an ONDA list and returns a clean copy, or throws INVALID_INPUT with all errors. The guard
 * checks that `base` and `exclude` exist and form no cycle.
 */
export function parseWaveConfig(path: string, value: unknown): WaveConfig {
  const errors: FieldError[] = []
  const config = readConfig(path, value, errors)
  if (config !== undefined && errors.length === 0) return config
  const first = errors[0]!
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  throw new CatracaError('INVALID_INPUT', `${first.path} ${first.message}${more}`, { errors })
}

function readConfig(path: string, value: unknown, errors: FieldError[]): WaveConfig | undefined {
  const fields = readFields(path, value, FIELDS, errors)
  if (fields === undefined) return undefined
  const strategy = readStrategy(`${path}.strategy`, fields.get('strategy'), errors)
  const optional = <T>(name: keyof WaveConfig, read: Reader<T>): T | undefined =>
    fields.has(name) ? read(`${path}.${name}`, fields.get(name), errors) : undefined

  const parsed = {
    percentage: optional('percentage', readPercentage),
    customerIds: optional('customerIds', readCustomerIds),
    startTime: optional('startTime', readTime),
    endTime: optional('endTime', readTime),
    ramp: optional('ramp', readRamp),
    base: optional('base', readListId),
    exclude: optional('exclude', readExclude),
  }
  checkStrategyFields(path, strategy, fields, errors)
  checkOrderOfTimes(path, parsed, errors)
  checkBase(path, parsed, errors)
  return strategy === undefined ? undefined : ({ strategy, ...withoutAbsent(parsed) } as WaveConfig)
}

/** Reads one value. On failure it adds to `errors`, and its result is ignored. */
type Reader<T> = (path: string, value: unknown, errors: FieldError[]) => T | undefined

/** The own fields of an object, each read once. A field that is `undefined` counts as absent. */
function readFields(
  path: string,
  value: unknown,
  known: ReadonlySet<string>,
  errors: FieldError[],
): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    errors.push({ path, message: 'must be an object' })
    return undefined
  }
  const fields = new Map<string, unknown>()
  for (const [name, field] of Object.entries(value)) {
    if (!known.has(name)) errors.push({ path: `${path}.${name}`, message: 'is not a known field' })
    else if (field !== undefined) fields.set(name, field)
  }
  return fields
}

function readArray(path: string, value: unknown, max: number, errors: FieldError[]): unknown[] | undefined {
  if (!Array.isArray(value)) errors.push({ path, message: 'must be an array' })
  else if (value.length > max) errors.push({ path, message: `must have at most ${max} entries` })
  else return value
  return undefined
}

function readStrategy(path: string, value: unknown, errors: FieldError[]): WaveStrategy | undefined {
  if (STRATEGIES.has(value)) return value as WaveStrategy
  errors.push({ path, message: 'must be PERCENTAGE, TIME_WINDOW or EXPLICIT_LIST' })
  return undefined
}

function readPercentage(path: string, value: unknown, errors: FieldError[]): number | undefined {
  // Written so that NaN fails too.
  if (typeof value === 'number' && value >= 0 && value <= 1) return withoutSign(value)
  errors.push({ path, message: 'must be a number from 0 to 1' })
  return undefined
}

function readTime(path: string, value: unknown, errors: FieldError[]): number | undefined {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME_MS)
    return withoutSign(value as number)
  errors.push({ path, message: `must be a whole number of epoch milliseconds from 0 to ${MAX_TIME_MS}` })
  return undefined
}

/** -0 would come back from a store as 0. */
const withoutSign = (value: number): number => (value === 0 ? 0 : value)

function readListId(path: string, value: unknown, errors: FieldError[]): string | undefined {
  return attempt(() => plainName(path, value), errors)
}

function readCustomerIds(path: string, value: unknown, errors: FieldError[]): string[] | undefined {
  const given = readArray(path, value, MAX_WAVE_CUSTOMERS, errors)
  if (given === undefined) return undefined
  const ids = new Set<string>()
  for (let i = 0; i < given.length; i++) {
    const id = attempt(() => identifier(`${path}[${i}]`, given[i]), errors)
    if (id !== undefined) ids.add(id)
  }
  return [...ids]
}

function readExclude(path: string, value: unknown, errors: FieldError[]): string[] | undefined {
  const given = readArray(path, value, MAX_EXCLUDED_LISTS, errors)
  if (given === undefined) return undefined
  const ids = new Set<string>()
  for (let i = 0; i < given.length; i++) {
    const id = readListId(`${path}[${i}]`, given[i], errors)
    if (id === undefined) continue
    if (ids.has(id)) errors.push({ path: `${path}[${i}]`, message: 'repeats an earlier entry' })
    ids.add(id)
  }
  return [...ids]
}

function readRamp(path: string, value: unknown, errors: FieldError[]): RampStep[] | undefined {
  const given = readArray(path, value, MAX_RAMP_STEPS, errors)
  if (given === undefined) return undefined
  const steps: RampStep[] = []
  let latest = -1
  for (let i = 0; i < given.length; i++) {
    const stepPath = `${path}[${i}]`
    const fields = readFields(stepPath, given[i], STEP_FIELDS, errors)
    if (fields === undefined) continue
    const at = readTime(`${stepPath}.at`, fields.get('at'), errors)
    const percentage = readPercentage(`${stepPath}.percentage`, fields.get('percentage'), errors)
    if (at !== undefined && at <= latest)
      errors.push({ path: `${stepPath}.at`, message: 'must be after the step before it' })
    if (at !== undefined) latest = at
    if (at !== undefined && percentage !== undefined) steps.push({ at, percentage })
  }
  return steps
}

function checkStrategyFields(
  path: string,
  strategy: WaveStrategy | undefined,
  fields: ReadonlyMap<string, unknown>,
  errors: FieldError[],
): void {
  if (strategy === undefined) return
  for (const [name, owner] of BELONGS_TO) {
    if (strategy !== owner && fields.has(name))
      errors.push({ path: `${path}.${name}`, message: `belongs to the strategy ${owner} only` })
  }
  const ramp = fields.get('ramp')
  const noRamp = ramp === undefined || (Array.isArray(ramp) && ramp.length === 0)
  if (strategy === 'PERCENTAGE' && !fields.has('percentage') && noRamp)
    errors.push({ path: `${path}.percentage`, message: 'is required when there is no ramp' })
  if (strategy === 'TIME_WINDOW' && !fields.has('startTime') && !fields.has('endTime'))
    errors.push({ path: `${path}.startTime`, message: 'or endTime is required' })
  if (strategy === 'EXPLICIT_LIST' && !fields.has('customerIds'))
    errors.push({ path: `${path}.customerIds`, message: 'is required' })
}

interface Times {
  startTime: number | undefined
  endTime: number | undefined
}

function checkOrderOfTimes(path: string, { startTime, endTime }: Times, errors: FieldError[]): void {
  if (startTime !== undefined && endTime !== undefined && endTime <= startTime)
    errors.push({ path: `${path}.endTime`, message: 'must be after startTime' })
}

interface Relations {
  base: string | undefined
  exclude: string[] | undefined
}

function checkBase(path: string, { base, exclude }: Relations, errors: FieldError[]): void {
  if (base !== undefined && exclude?.includes(base))
    errors.push({ path: `${path}.base`, message: 'must not be in exclude as well' })
}

function attempt<T>(read: () => T, errors: FieldError[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!isCatracaError(error, 'INVALID_INPUT')) throw error
    errors.push(...(error.errors ?? []))
    return undefined
  }
}

function withoutAbsent(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
