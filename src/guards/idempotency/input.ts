import { hash } from 'node:crypto'
import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import { requestHashOf } from './canonical.js'
import {
  type IdempotencyOptions,
  MAX_LEASE_MS,
  MAX_WAIT_MS,
  MIN_LEASE_MS,
  type RecordNaming,
} from './options.js'
import type { Claim } from './port.js'
import type { HoldRequest, IdempotentRequest, RecordKey } from './types.js'

const REQUEST_HASH = /^[A-Za-z0-9+/=_.:-]{8,128}$/
const HEX_SHA256 = /^[0-9a-fA-F]{64}$/

/** The operation of records that are named by their key alone. */
const ANY_OPERATION = 'REQUEST'
/** Separates operation and hash; occurs in neither. */
const BEHIND_OPERATION = '#'

export function recordKey(given: RecordKey, naming: RecordNaming): RecordKey {
  const key = identifier('key', given.key)
  const operation = identifier('operation', given.operation)
  return { operation: naming === 'bare' ? ANY_OPERATION : operation, key }
}

/** The hash without the operation prefix that it has when records are named by their key alone. */
export const afterOperation = (text: string): string => text.slice(text.indexOf(BEHIND_OPERATION) + 1)

/** Undefined if the name of the record contains the operation. */
export function operationIn(text: string | undefined): string | undefined {
  const end = text?.indexOf(BEHIND_OPERATION) ?? -1
  return end < 0 ? undefined : text!.slice(0, end)
}

/** Computes the hash at once, before the caller can change the payload. */
export function parseClaim(request: IdempotentRequest, owner: string, options: IdempotencyOptions): Claim {
  const { payload, requestHash, rawPayload, leaseMs, expirySeconds } = request
  const { onLeaseExpired = options.onLeaseExpired } = request
  if (payload !== undefined && requestHash !== undefined)
    throw invalid('requestHash', 'must not be given together with payload')
  if (onLeaseExpired !== 'reclaim' && onLeaseExpired !== 'unknown')
    throw invalid('onLeaseExpired', 'must be reclaim or unknown')
  const ofRequest = requestHash === undefined ? requestHashOf(payload) : checkedHash(requestHash)
  const operation = identifier('operation', request.operation)
  return {
    key: recordKey(request, options.naming),
    owner,
    requestHash: options.naming === 'bare' ? `${operation}${BEHIND_OPERATION}${ofRequest}` : ofRequest,
    ...(rawPayload !== undefined && { rawHash: rawHashOf(rawPayload) }),
    leaseMs: leaseMs === undefined ? options.leaseMs : checkedLease(leaseMs),
    lifeMs: lifeMs(expirySeconds, options),
    takesOver: onLeaseExpired === 'reclaim',
  }
}

export function checkedLease(leaseMs: unknown): number {
  if (Number.isInteger(leaseMs) && Number(leaseMs) >= MIN_LEASE_MS && Number(leaseMs) <= MAX_LEASE_MS)
    return Number(leaseMs)
  throw invalid('leaseMs', `must be a whole number from ${MIN_LEASE_MS} to ${MAX_LEASE_MS}`)
}

export function checkedWait({ waitMs = 0 }: HoldRequest): number {
  if (typeof waitMs === 'number' && waitMs >= 0 && waitMs <= MAX_WAIT_MS) return waitMs
  throw invalid('waitMs', `must be from 0 to ${MAX_WAIT_MS}`)
}

function rawHashOf(raw: unknown): string {
  if (typeof raw === 'string' || raw instanceof Uint8Array) return hash('sha256', raw)
  throw invalid('rawPayload', 'must be text or bytes')
}

function checkedHash(given: unknown): string {
  if (typeof given !== 'string' || !REQUEST_HASH.test(given))
    throw invalid('requestHash', 'must be 8 to 128 characters of A-Z a-z 0-9 + / = _ . : -')
  return HEX_SHA256.test(given) ? given.toLowerCase() : given
}

function lifeMs(expirySeconds: unknown, { lifeMs, minLifeMs, maxLifeMs }: IdempotencyOptions): number {
  if (expirySeconds === undefined) return lifeMs
  const askedMs = typeof expirySeconds === 'number' ? Math.round(expirySeconds * 1000) : Number.NaN
  if (askedMs >= minLifeMs && askedMs <= maxLifeMs) return askedMs
  const range = `${Math.ceil(minLifeMs / 1000)} to ${Math.floor(maxLifeMs / 1000)}`
  throw invalid('expirySeconds', `(Idempotency-Expiry-Seconds) must be a number of seconds from ${range}`)
}
