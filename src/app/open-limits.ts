import type { Clock } from '../core/clock.js'
import { RateLimits } from '../guards/rate-limit/index.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../guards/rate-limit/options.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenLimitsOptions extends Partial<LimitOptions> {
  /** A store URL, if limits are in another store than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
  maxSeries: number
}

export function openLimits(
  { store: _, ...given }: OpenLimitsOptions,
  { limits: engine }: StoreEngine,
  around: Surroundings,
): RateLimits {
  return new RateLimits({ ...around, engine, options: { ...DEFAULT_LIMITS, ...given } })
}
