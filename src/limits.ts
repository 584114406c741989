import type { Clock } from './clock.js'
import { CatracaError } from './errors.js'
import type { StoreEngine } from './open-engine.js'
import { RateLimits } from './rate-limit/limits.js'
import { DEFAULT_LIMITS, type LimitOptions } from './rate-limit/options.js'
import type { LimitEngine } from './rate-limit/port.js'

export interface OpenLimitsOptions extends Partial<LimitOptions> {
  /** A store URL, when limits are kept elsewhere than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** Rate limits over their engine. */
export function openLimits(
  { store: _, ...given }: OpenLimitsOptions,
  { name, limits }: StoreEngine,
  around: Surroundings,
): RateLimits {
  const engine = limits ?? withoutLimits(name)
  return new RateLimits({ ...around, engine, options: { ...DEFAULT_LIMITS, ...given } })
}

/** For a store that keeps everything else: whoever uses limits is told where they can be kept. */
function withoutLimits(name: string): LimitEngine {
  const refuse = async (): Promise<never> => {
    throw new CatracaError(
      'STORE_UNSUPPORTED',
      `rate limits cannot be kept in ${name} in this version: name another store for them (stores.limits)`,
    )
  }
  const watch = () => () => {}
  return {
    counters: {
      ...{ take: refuse, adjust: refuse, giveBack: refuse, reset: refuse, watch },
      sweep: async () => ({ swept: 0, more: false }),
    },
    configs: {
      ...{ read: refuse, write: refuse, remove: refuse, writeEntity: refuse, removeEntity: refuse },
      ...{ migrate: refuse, secret: refuse, watch },
    },
    usage: { count: refuse, read: refuse, forget: async () => ({ more: false }) },
  }
}
