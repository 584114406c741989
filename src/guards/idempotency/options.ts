import { CatracaError } from '../../core/errors.js'
import type { OnLeaseExpired } from './types.js'

const HOUR_MS = 3_600_000
const MIB = 1024 * 1024

export interface IdempotencyOptions {
  /** Default lifetime of a record, and the range that a request may choose from. */
  lifeMs: number
  minLifeMs: number
  maxLifeMs: number
  leaseMs: number
  onLeaseExpired: OnLeaseExpired
  /** An engine that has not answered within this time counts as unavailable. */
  timeoutMs: number
  onUnavailable: 'block' | 'allow'
  /** Maximum size of a stored response, after encoding. Engines may allow less. */
  maxResponseBytes: number
  /** Work that takes longer loses its claim, so that work that hangs does not hold it forever. */
  maxWorkMs: number
  /**
   * `bare`: one record per key. The operation is then part of the request, so another operation under the same key
   * is another request.
   */
  naming: RecordNaming
}

export type RecordNaming = 'operation' | 'bare'

export const DEFAULT_IDEMPOTENCY: IdempotencyOptions = {
  lifeMs: 24 * HOUR_MS,
  minLifeMs: 60_000,
  maxLifeMs: 30 * 24 * HOUR_MS,
  leaseMs: 30_000,
  onLeaseExpired: 'reclaim',
  timeoutMs: 3000,
  onUnavailable: 'block',
  maxResponseBytes: 4 * MIB,
  maxWorkMs: HOUR_MS,
  naming: 'operation',
}

/** Validates the options and adds the defaults. */
export function idempotencyOptions(given: Partial<IdempotencyOptions>): IdempotencyOptions {
  const options = { ...DEFAULT_IDEMPOTENCY, ...given }
  if (options.minLifeMs <= options.maxLifeMs) return options
  throw new CatracaError(
    'CONFIG_INVALID',
    'idempotency.minLifeMs must not be more than idempotency.maxLifeMs',
  )
}

export const MIN_LEASE_MS = 100
export const MAX_LEASE_MS = 24 * HOUR_MS
export const MAX_WAIT_MS = 10 * 60_000
/** Maximum length of a stored error. */
export const MAX_ERROR_CHARACTERS = 1000
