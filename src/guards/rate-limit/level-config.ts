import { type FieldError, invalid } from '../../core/errors.js'
import { identifier, plainName } from '../../core/identifiers.js'
import type { GivenAddress } from './api.js'
import { ALL_RESOURCES, resourceName, resourceOrAll } from './levels.js'
import { refusal } from './refusal.js'
import { ALGORITHMS, MAX_AMOUNT, MAX_PERIOD_SECONDS } from './rule.js'
import { type ConfigKey, type LevelConfig, LIMITS_ON_UNAVAILABLE, type Limit, type Limits } from './types.js'

/** Maximum number of limits of one resource at one level. */
const MAX_LIMITS = 32

const MODES = ['enforce', 'shadow'] as const

type Check = (value: unknown) => string | undefined

const wholeNumber =
  (max: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max
      ? undefined
      : `must be a whole number from 1 to ${max}`
const oneOf =
  (values: readonly string[]): Check =>
  (value) =>
    (values as readonly unknown[]).includes(value) ? undefined : `must be one of ${values.join(', ')}`
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')

const LIMIT_FIELDS: Record<keyof Limit, Check> = {
  capacity: wholeNumber(MAX_AMOUNT),
  burst: wholeNumber(MAX_AMOUNT),
  refillAmount: wholeNumber(MAX_AMOUNT),
  refillPeriodSeconds: wholeNumber(MAX_PERIOD_SECONDS),
  algorithm: oneOf(ALGORITHMS),
  mode: oneOf(MODES),
}

const CONFIG_FIELDS: Record<Exclude<keyof LevelConfig, 'limits' | 'unreadable'>, Check> = {
  onUnavailable: oneOf(LIMITS_ON_UNAVAILABLE),
  autoUpdate: flag,
  strictVersion: flag,
}

/** Refuses `__proto__`, which would not become a field of the object. */
export function limitName(path: string, value: unknown): string {
  const name = plainName(path, value)
  if (name === '__proto__') throw invalid(path, 'must not be __proto__')
  return name
}

/** Validates a configuration and returns only its known fields. */
export function parseLevelConfig(level: ConfigKey['level'], input: unknown): LevelConfig {
  if (!isObject(input)) throw invalid('config', 'must be an object')
  const { limits = {}, ...others } = input
  const errors: FieldError[] = []
  const config: LevelConfig = { limits: {}, ...checkFields('', others, CONFIG_FIELDS, errors) }
  if (level !== 'system') {
    for (const field of ['autoUpdate', 'strictVersion'] as const) {
      if (config[field] !== undefined) errors.push({ path: field, message: 'belongs to the system level' })
    }
  }
  config.limits = checkLimits(limits, errors)
  if (errors.length > 0) throw refusal(errors)
  if (Object.keys(config).length === 1 && Object.keys(config.limits).length === 0) {
    throw invalid('limits', 'must name a limit, or another field must be given')
  }
  return config
}

export function parseLimits(input: unknown): Limits {
  const errors: FieldError[] = []
  const limits = checkLimits(input, errors)
  if (errors.length > 0) throw refusal(errors)
  return limits
}

function checkLimits(input: unknown, errors: FieldError[]): Limits {
  if (!isObject(input)) throw invalid('limits', 'must be an object of limits by name')
  const names = Object.keys(input)
  if (names.length > MAX_LIMITS) throw invalid('limits', `must name at most ${MAX_LIMITS} limits`)
  const limits: Limits = {}
  for (const given of names) {
    const path = `limits.${given.slice(0, 64)}`
    const name = limitName(path, given)
    const fields = input[given]
    if (!isObject(fields)) {
      errors.push({ path, message: 'must be an object' })
      continue
    }
    const limit: Limit = checkFields(`${path}.`, fields, LIMIT_FIELDS, errors)
    if (limit.burst !== undefined && limit.capacity !== undefined && limit.burst < limit.capacity) {
      errors.push({ path: `${path}.burst`, message: 'must not be below capacity' })
    }
    limits[name] = limit
  }
  return limits
}

function checkFields(
  prefix: string,
  input: Record<string, unknown>,
  known: Record<string, Check>,
  errors: FieldError[],
): Record<string, unknown> {
  const checked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    const check = Object.hasOwn(known, name) ? known[name]! : () => 'is not a known field'
    const message = value === undefined ? undefined : check(value)
    if (message !== undefined) errors.push({ path: `${prefix}${name.slice(0, 64)}`, message })
    else if (value !== undefined) checked[name] = value
  }
  return checked
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Validates the address of a configuration. */
export function configKeyOf({ level, entity, identifier: id, resource }: GivenAddress): ConfigKey {
  if (entity === undefined) return parseConfigKey(level, id, resource)
  if (level !== 'entity') throw invalid('entity', 'is accepted on the entity level only')
  const key = parseConfigKey(level, entity, resource)
  if (id !== undefined && identifier('identifier', id) !== identifier('entity', entity)) {
    throw invalid('identifier', 'must be the entity, where both are given')
  }
  return key
}

/**
 * Validates the parts of an address. `id` names the resource at the resource level, and the entity at the entity level.
 */
export function parseConfigKey(level: unknown, id: unknown, resource: unknown): ConfigKey {
  switch (level) {
    case 'system':
      if (id !== undefined) throw invalid('identifier', 'is not accepted on the system level')
      return { level, resource: resourceOrAll('resource', resource) }
    case 'resource': {
      if (resource === ALL_RESOURCES || id === ALL_RESOURCES) {
        throw invalid(
          'resource',
          'must name one: the default for all resources is on the system or entity level',
        )
      }
      const name = resourceName('resource', resource ?? id)
      if (id !== undefined && plainName('identifier', id) !== name) {
        throw invalid('identifier', 'must be the resource itself on the resource level')
      }
      return { level, resource: name }
    }
    case 'entity':
      return { level, entity: identifier('entity', id), resource: resourceOrAll('resource', resource) }
    default:
      throw invalid('level', 'must be system, resource or entity')
  }
}
