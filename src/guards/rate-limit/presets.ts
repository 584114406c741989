import type { LevelConfig, Limits } from './types.js'

const perMinute = (capacity: number): Limits => ({ perMinute: window(capacity, 60) })
const perHour = (capacity: number): Limits => ({ perHour: window(capacity, 3600) })

function window(capacity: number, refillPeriodSeconds: number) {
  return { capacity, refillAmount: capacity, refillPeriodSeconds, algorithm: 'fixed-window' as const }
}

/**
 * The limits of the DICT documents, for `setConfig` at the system level. Either the entity is an ISPB and the
 * resource an operation, or the entity is a user and the resource an endpoint.
 */
export const DICT_LIMITS = {
  CreateEntry: { limits: { ...perMinute(100), ...perHour(1000) } },
  CreateClaim: { limits: { ...perMinute(50), ...perHour(500) } },
  GetEntry: { limits: perMinute(500) },
  /** For each endpoint that users call. */
  perUser: {
    limits: {
      perMinute: { capacity: 10, refillAmount: 10, refillPeriodSeconds: 60, algorithm: 'sliding-window' },
    },
  },
} as const satisfies Record<string, LevelConfig>
