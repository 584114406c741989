import { CatracaError, type FieldError } from '../../../core/errors.js'
import { checkCommon } from './common-fields.js'
import { type Fail, type Field, type JsonSchema, readFields } from './field.js'
import {
  FIELDS,
  ownerOf,
  STRATEGIES,
  STRATEGY_NAMES,
  type WaveConfig,
  type WaveStrategy,
} from './strategies.js'

const STRATEGY: JsonSchema = { type: 'string', enum: STRATEGY_NAMES }
const ALL_FIELDS = Object.entries<Pick<Field<unknown>, 'schema' | 'read'>>({
  strategy: { schema: STRATEGY, read: readStrategy },
  ...FIELDS,
})

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
  const config = readConfig(path, value, (wrong, message) => void errors.push({ path: wrong, message }))
  if (config !== undefined && errors.length === 0) return config
  const first = errors[0]!
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  throw new CatracaError('INVALID_INPUT', `${first.path} ${first.message}${more}`, { errors })
}

function readConfig(path: string, value: unknown, fail: Fail): WaveConfig | undefined {
  const given = readFields(path, value, WAVE_SCHEMA.properties!, fail)
  if (given === undefined) return undefined
  const config: Record<string, unknown> = {}
  for (const [name, { read }] of ALL_FIELDS) {
    if (!given.has(name) && name !== 'strategy') continue
    const field = read(`${path}.${name}`, given.get(name), fail)
    if (field !== undefined) config[name] = field
  }
  if (config.strategy !== undefined) checkStrategy(path, config.strategy as WaveStrategy, given, fail)
  checkCommon(path, config, fail)
  return config as unknown as WaveConfig
}

function readStrategy(path: string, value: unknown, fail: Fail): WaveStrategy | undefined {
  const names = `${STRATEGY_NAMES.slice(0, -1).join(', ')} or ${STRATEGY_NAMES.at(-1)}`
  return STRATEGY_NAMES.find((name) => name === value) ?? fail(path, `must be ${names}`)
}

function checkStrategy(
  path: string,
  strategy: WaveStrategy,
  given: ReadonlyMap<string, unknown>,
  fail: Fail,
): void {
  for (const name of given.keys()) {
    const owner = ownerOf([name])
    if (owner !== undefined && owner !== strategy)
      fail(`${path}.${name}`, `belongs to the strategy ${owner} only`)
  }
  const missing = STRATEGIES[strategy].missing(given)
  if (missing !== undefined) fail(`${path}.${missing[0]}`, missing[1])
}
