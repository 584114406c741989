/** What the processes of the proof of opening know of each other. */

import type { OpenOptions } from '../../src/app/open-catraca.js'
import type { Durability } from '../../src/engines/embedded/options.js'

export interface OpenRacePlan {
  directory: string
  durability: Durability
}

export interface WriterPlan extends OpenRacePlan {
  writer: string
  /** After each write. */
  pauseMs: number
}

export const LIST = 'members'
export const RESOURCE = 'proof'
export const OPERATION = 'PAY'
/** Of a window that does not end while a proof runs, so that what remains tells how often it was taken from. */
export const CAPACITY = 1_000_000_000
export const WINDOW_SECONDS = 366 * 24 * 3600

/** How far a writer came: everything up to here was acknowledged. */
export interface Acknowledged {
  members: number
  acquired: number
  requests: number
  fence: number
}

export const memberOf = (writer: string, n: number): string => `${writer}-${n}`

/** Longer than anybody is stopped: nothing may fail. */
const PATIENCE_MS = 30_000

export function openOptions({ directory, durability }: OpenRacePlan): OpenOptions {
  return {
    store: `embedded:${directory}`,
    embedded: { durability, writeTimeoutMs: PATIENCE_MS },
    limits: { timeoutMs: PATIENCE_MS },
    idempotency: { timeoutMs: PATIENCE_MS },
    locks: { timeoutMs: PATIENCE_MS },
    membership: { build: 'off' },
  }
}
