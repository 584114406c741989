import type { Pause, StoredConfig } from '../../../guards/allowlist/pause.js'
import type { RampStep, WaveStrategy } from '../../../guards/allowlist/types.js'

/** Admits no customer. */
const CLOSED: StoredConfig = { strategy: 'EXPLICIT_LIST', customerIds: [] }

/**
 * The configuration of a wave in the table. Another program may have written it, so every value is checked: values of
 * the wrong type are ignored, and a wave without a valid configuration admits no customer.
 */
export function readConfig(stored: unknown): StoredConfig {
  if (!isObject(stored) || typeof stored.strategy !== 'string') return CLOSED
  const config: StoredConfig = { strategy: stored.strategy as WaveStrategy, ...readOpening(stored) }
  const { customerIds, base, exclude, paused } = stored
  if (Array.isArray(customerIds)) config.customerIds = customerIds.filter(isString)
  if (isString(base)) config.base = base
  if (Array.isArray(exclude)) config.exclude = exclude.filter(isString)
  if (isObject(paused) && isNumber(paused.at)) config.paused = { at: paused.at, ...readOpening(paused) }
  return config
}

/** How far a wave is open, and when. */
function readOpening({ percentage, startTime, endTime, ramp }: Record<string, unknown>): Omit<Pause, 'at'> {
  return {
    ...(isNumber(percentage) && { percentage }),
    ...(isNumber(startTime) && { startTime }),
    ...(isNumber(endTime) && { endTime }),
    ...(Array.isArray(ramp) && { ramp: ramp.filter(isStep) }),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isStep = (value: unknown): value is RampStep =>
  isObject(value) && isNumber(value.at) && isNumber(value.percentage)
