import { invalid } from '../errors.js'
import { identifier } from '../key.js'
import { requestHashOf } from './canonical.js'
import { type IdempotencyOptions, MAX_LEASE_MS, MAX_WAIT_MS, MIN_LEASE_MS } from './options.js'
import type { Claim } from './port.js'
import type { HoldRequest, IdempotentRequest, RecordKey } from './types.js'

const REQUEST_HASH = /^[A-Za-z0-9+/=_.:-]{8,128}$/
const HEX_SHA256 = /^[0-9a-fA-F]{64}$/

export function recordKey({ operation, key }: RecordKey): RecordKey {
  return { operation: identifier('operation', operation), key: identifier('key', key) }
}

/** The hash is made now, before anybody can change the payload. */
export function parseClaim(request: IdempotentRequest, owner: string, options: IdempotencyOptions): Claim {
  const { payload, requestHash, leaseMs, expirySeconds, onLeaseExpired = options.onLeaseExpired } = request
  if (payload !== undefined && requestHash !== undefined)
    throw invalid('requestHash', 'must not be given together with payload')
  if (onLeaseExpired !== 'reclaim' && onLeaseExpired !== 'unknown')
    throw invalid('onLeaseExpired', 'must be reclaim or unknown')
  return {
    key: recordKey(request),
    owner,
    requestHash: requestHash === undefined ? requestHashOf(payload) : checkedHash(requestHash),
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

function checkedHash(hash: unknown): string {
  if (typeof hash !== 'string' || !REQUEST_HASH.test(hash))
    throw invalid('requestHash', 'must be 8 to 128 characters of A-Z a-z 0-9 + / = _ . : -')
  return HEX_SHA256.test(hash) ? hash.toLowerCase() : hash
}

/** What is asked for is a wish: it is brought into the range. */
function lifeMs(expirySeconds: unknown, { lifeMs, minLifeMs, maxLifeMs }: IdempotencyOptions): number {
  if (expirySeconds === undefined) return lifeMs
  if (typeof expirySeconds !== 'number' || !(expirySeconds >= 0))
    throw invalid('expirySeconds', 'must be a number of seconds')
  return Math.min(maxLifeMs, Math.max(minLifeMs, Math.round(expirySeconds * 1000)))
}
