import { CatracaError } from '../../../errors.js'
import type { ClaimOutcome, StoredRecord, StoredResponse } from '../../../idempotency/port.js'
import type { RecordKey, RecordStatus } from '../../../idempotency/types.js'

type Text = Buffer | null
type Claimed = [isClaimed: 1, attempt: number, expiresAt: number, leaseUntil: number]

/** In the order of `lua/idempotency-claim.lua`. */
export type Found = [
  isClaimed: 0,
  at: number,
  status: Buffer,
  requestHash: Text,
  attempt: number,
  createdAt: number,
  updatedAt: number,
  expiresAt: number,
  leaseUntil: number | null,
  error: Text,
  omittedBytes: number | null,
  encoding: Text,
  response: Text,
]
export type ClaimReply = Claimed | Found

export function outcomeOf(key: RecordKey, reply: ClaimReply): ClaimOutcome {
  if (reply[0] === 0) return { outcome: 'found', record: recordOf(key, reply), at: reply[1] }
  return { outcome: 'claimed', attempt: reply[1], expiresAt: reply[2], leaseUntil: reply[3] }
}

export function recordOf(key: RecordKey, reply: Found): StoredRecord {
  const [, , status, requestHash, attempt, createdAt, updatedAt, expiresAt, ...rest] = reply
  const [leaseUntil, error, omittedBytes, encoding, response] = rest
  return {
    key,
    status: status.toString() as RecordStatus,
    requestHash: requestHash?.toString(),
    attempt,
    createdAt,
    updatedAt,
    expiresAt,
    leaseUntil: leaseUntil ?? undefined,
    response: responseOf(encoding, status, response),
    omittedBytes: omittedBytes ?? undefined,
    error: error?.toString(),
  }
}

function responseOf(encoding: Text, status: Buffer, response: Text): StoredResponse | undefined {
  const kind = encoding?.toString()
  if (response === null) {
    if (kind === 'none' || status.toString() !== 'COMPLETED') return undefined
    // Somebody deleted it, or the server evicted it. What was done must not be done again for that.
    throw new CatracaError('STORE_CORRUPT', 'the response of a completed request is gone from Redis')
  }
  // Of what another program wrote nothing is known but its bytes.
  return kind === 'gzip' || hasGzipMagic(response)
    ? { encoding: 'gzip', bytes: response }
    : { encoding: 'json', text: response.toString() }
}

const hasGzipMagic = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
