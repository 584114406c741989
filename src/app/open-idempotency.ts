import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import { Idempotency } from '../guards/idempotency/index.js'
import { DEFAULT_IDEMPOTENCY, type IdempotencyOptions } from '../guards/idempotency/options.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenIdempotencyOptions extends Partial<IdempotencyOptions> {
  /** A store URL, if records are in another store than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

export function openIdempotency(
  { store: _, ...given }: OpenIdempotencyOptions,
  { idempotency: store }: StoreEngine,
  around: Surroundings,
): Idempotency {
  const options = { ...DEFAULT_IDEMPOTENCY, ...given }
  if (options.minLifeMs > options.maxLifeMs)
    throw new CatracaError(
      'CONFIG_INVALID',
      'idempotency.minLifeMs must not be more than idempotency.maxLifeMs',
    )
  return new Idempotency({ ...around, store, options })
}
