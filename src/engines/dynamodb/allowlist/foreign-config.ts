import type { RampStep, WaveConfig, WaveStrategy } from '../../../allowlist/types.js'

/** Lets nobody in. */
const CLOSED: WaveConfig = { strategy: 'EXPLICIT_LIST', customerIds: [] }

/**
 * The rule of a wave as it stands in the table. Another program may have written it, so nothing of it is taken for
 * granted: what has not the type that it should have is left out, and a wave without a rule lets nobody in.
 */
export function readConfig(stored: unknown): WaveConfig {
  if (!isObject(stored) || typeof stored.strategy !== 'string') return CLOSED
  const config: WaveConfig = { strategy: stored.strategy as WaveStrategy }
  const { percentage, startTime, endTime, customerIds, ramp, base, exclude } = stored
  if (isNumber(percentage)) config.percentage = percentage
  if (isNumber(startTime)) config.startTime = startTime
  if (isNumber(endTime)) config.endTime = endTime
  if (Array.isArray(customerIds)) config.customerIds = customerIds.filter(isString)
  if (Array.isArray(ramp)) config.ramp = ramp.filter(isStep)
  if (isString(base)) config.base = base
  if (Array.isArray(exclude)) config.exclude = exclude.filter(isString)
  return config
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isStep = (value: unknown): value is RampStep =>
  isObject(value) && isNumber(value.at) && isNumber(value.percentage)
