import type { StoredConfig } from '../../../guards/allowlist/pause.js'
import type { WaveConfig } from '../../../guards/allowlist/types.js'
import type { JsonSchema } from '../../../guards/allowlist/wave/field.js'
import { FIELDS } from '../../../guards/allowlist/wave/strategies.js'

/** Admits no customer. */
const CLOSED: StoredConfig = { strategy: 'EXPLICIT_LIST', customerIds: [] }

/**
 * The configuration of a wave in the table. Another program may have written it, so every value is checked: values of
 * the wrong type are ignored, and a wave without a valid configuration admits no customer.
 */
export function readConfig(stored: unknown): StoredConfig {
  if (!isObject(stored) || typeof stored.strategy !== 'string') return CLOSED
  const { strategy, paused } = stored
  const config = { strategy: strategy as WaveConfig['strategy'], ...readFields(stored) }
  if (!isObject(paused) || !fits({ type: 'number' }, paused.at)) return config
  return { ...config, paused: { at: paused.at as number, ...readFields(paused) } }
}

function readFields(stored: Record<string, unknown>): Omit<WaveConfig, 'strategy'> {
  const fields = Object.entries(FIELDS).map(([name, { schema }]) => [name, readValue(schema, stored[name])])
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** Undefined if the value has another form than its schema. An array loses only the entries of another form. */
function readValue(schema: JsonSchema, value: unknown): unknown {
  if (schema.type === 'array' && Array.isArray(value))
    return value.filter((item) => fits(schema.items!, item))
  return fits(schema, value) ? value : undefined
}

function fits({ type, properties = {} }: JsonSchema, value: unknown): boolean {
  if (type === 'number') return Number.isFinite(value)
  if (type === 'object')
    return isObject(value) && Object.entries(properties).every(([name, inner]) => fits(inner, value[name]))
  return typeof value === type
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
