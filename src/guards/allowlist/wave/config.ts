import { CatracaError, type FieldError } from '../../../core/errors.js'
import { conflicts } from './common-fields.js'
import { type JsonSchema, type Reader, readFields } from './field.js'
import { FIELDS, ownerOf, STRATEGIES, STRATEGY_NAMES, type WaveConfig, type WaveStrategy } from './table.js'

const STRATEGY: JsonSchema = { type: 'string', enum: STRATEGY_NAMES }
const ALL_FIELDS = Object.entries({ strategy: { schema: STRATEGY, read: readStrategy }, ...FIELDS })

/** The form of a rule, for the server and its OpenAPI page. */
export const WAVE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(ALL_FIELDS.map(([name, { schema }]) => [name, schema])),
  required: ['strategy'],
  additionalProperties: false,
}

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
  const given = readFields(path, value, WAVE_SCHEMA.properties!, errors)
  if (given === undefined) return undefined
  const read = ALL_FIELDS.map(([name, field]) => [
    name,
    given.has(name) || name === 'strategy'
      ? (field.read as Reader<unknown>)(`${path}.${name}`, given.get(name), errors)
      : undefined,
  ])
  const config = Object.fromEntries(read.filter(([, field]) => field !== undefined)) as WaveConfig
  if (config.strategy !== undefined) errors.push(...strategyErrors(path, config.strategy, given))
  errors.push(...conflicts(path, config))
  return config
}

function readStrategy(path: string, value: unknown, errors: FieldError[]): WaveStrategy | undefined {
  const known = STRATEGY_NAMES.find((name) => name === value)
  const names = `${STRATEGY_NAMES.slice(0, -1).join(', ')} or ${STRATEGY_NAMES.at(-1)}`
  if (known === undefined) errors.push({ path, message: `must be ${names}` })
  return known
}

/** Fields of other strategies, and what this one needs. */
function strategyErrors(
  path: string,
  strategy: WaveStrategy,
  given: ReadonlyMap<string, unknown>,
): FieldError[] {
  const foreign = [...given.keys()].flatMap((name) => {
    const owner = ownerOf([name])
    const isOwn = owner === undefined || owner === strategy
    return isOwn ? [] : [{ path: `${path}.${name}`, message: `belongs to the strategy ${owner} only` }]
  })
  const missing = STRATEGIES[strategy].missing(given)
  return missing ? [...foreign, { path: `${path}.${missing.field}`, message: missing.message }] : foreign
}
