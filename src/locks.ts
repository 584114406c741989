import type { Clock } from './clock.js'
import { CatracaError } from './errors.js'
import { Locks } from './lock/locks.js'
import { DEFAULT_LOCKS, type LockOptions } from './lock/options.js'
import type { LockStore } from './lock/port.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenLocksOptions extends Partial<LockOptions> {
  /** A store URL, when locks are kept elsewhere than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** Locks over their engine. */
export function openLocks(
  { store: _, ...given }: OpenLocksOptions,
  { name, locks }: StoreEngine,
  around: Surroundings,
): Locks {
  const store = locks ?? withoutLocks(name)
  return new Locks({ ...around, store, options: { ...DEFAULT_LOCKS, ...given } })
}

/** For a store that keeps everything else: whoever uses locks is told where they can be kept. */
function withoutLocks(name: string): LockStore {
  const refuse = async (): Promise<never> => {
    throw new CatracaError(
      'STORE_UNSUPPORTED',
      `locks cannot be kept in ${name} in this version: name another store for them (stores.locks)`,
    )
  }
  return {
    ...{ acquire: refuse, extend: refuse, release: refuse, read: refuse, remove: refuse },
    watch: () => () => {},
    pollMs: 1000,
    sweep: async () => ({ more: false }),
  }
}
