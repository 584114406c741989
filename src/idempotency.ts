import type { Clock } from './clock.js'
import { CatracaError } from './errors.js'
import { Idempotency } from './idempotency/idempotency.js'
import { DEFAULT_IDEMPOTENCY, type IdempotencyOptions } from './idempotency/options.js'
import type { IdempotencyStore } from './idempotency/port.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenIdempotencyOptions extends Partial<IdempotencyOptions> {
  /** A store URL, when records are kept elsewhere than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** Idempotency over its engine. */
export function openIdempotency(
  { store: _, ...given }: OpenIdempotencyOptions,
  { name, idempotency }: StoreEngine,
  around: Surroundings,
): Idempotency {
  const options = { ...DEFAULT_IDEMPOTENCY, ...given }
  if (options.minLifeMs > options.maxLifeMs)
    throw new CatracaError(
      'CONFIG_INVALID',
      'idempotency.minLifeMs must not be more than idempotency.maxLifeMs',
    )
  return new Idempotency({ ...around, store: idempotency ?? withoutRecords(name), options })
}

/** For a store that keeps everything else: whoever uses idempotency is told where it can be kept. */
function withoutRecords(name: string): IdempotencyStore {
  const refuse = async (): Promise<never> => {
    throw new CatracaError(
      'STORE_UNSUPPORTED',
      `idempotency records cannot be kept in ${name} in this version: name another store for them (stores.idempotency)`,
    )
  }
  return {
    maxResponseBytes: 0,
    ...{ claim: refuse, complete: refuse, fail: refuse, release: refuse, extend: refuse },
    ...{ read: refuse, remove: refuse, sweep: async () => ({ more: false }) },
  }
}
