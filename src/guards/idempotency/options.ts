import type { OnLeaseExpired } from './types.js'

const HOUR_MS = 3_600_000
const MIB = 1024 * 1024

export interface IdempotencyOptions {
  /** Life of a record when nobody says otherwise, and what somebody may say. */
  lifeMs: number
  minLifeMs: number
  maxLifeMs: number
  leaseMs: number
  onLeaseExpired: OnLeaseExpired
  /** An engine that has not decided by then counts as unavailable. */
  timeoutMs: number
  onUnavailable: 'block' | 'allow'
  /** Kept of a response, as it is stored; engines may keep less. */
  maxResponseBytes: number
  /** Work that takes longer loses its claim, so that what hangs does not keep it for ever. */
  maxWorkMs: number
  /** `bare`: one record for each key, whose operation is a part of the request: another operation is another request. */
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

export const MIN_LEASE_MS = 100
export const MAX_LEASE_MS = 24 * HOUR_MS
export const MAX_WAIT_MS = 10 * 60_000
/** Kept of why something failed. */
export const MAX_ERROR_CHARACTERS = 1000
