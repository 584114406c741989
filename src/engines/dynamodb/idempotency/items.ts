import { CatracaError } from '../../../core/errors.js'
import type { StoredResponse } from '../../../guards/idempotency/port.js'
import type { OwnedRecord } from '../../../guards/idempotency/transitions.js'
import type { RecordKey, RecordStatus } from '../../../guards/idempotency/types.js'
import {
  bytes,
  type Item,
  number,
  optionalBytes,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'
import { keyOf, moment, ttlOf } from './keys.js'
import { type Parts, partsOf } from './parts.js'

/**
 * A stored record (see README.md): the attributes of the source design with their types, and `owner`, `attempt`,
 * `leaseUntil`, `error`, `omittedBytes` and those of responses that are not text. Records of other programs lack
 * these.
 */
export interface ReadRecord {
  record: OwnedRecord
  /** Set if the response is in separate items. */
  parts: Parts | undefined
}

const STATUSES: readonly string[] = ['IN_PROGRESS', 'COMPLETED', 'FAILED'] satisfies RecordStatus[]
/** The last time with a four-digit year. */
const NEVER = 253_402_300_799_999

/** Those of a record without its response. */
export const LISTED_ATTRIBUTES = [
  ...['status', 'requestHash', 'createdAt', 'updatedAt', 'expiresAt', 'ttl', 'attempt', 'leaseUntil'],
  ...['error', 'omittedBytes'],
]

/** A record without a response. */
export function itemOf(record: OwnedRecord): Item {
  const { key, status, requestHash, attempt, owner, leaseUntil, error, takesOver } = record
  return {
    ...keyOf(key),
    operationType: text(key.operation),
    idempotencyKey: text(key.key),
    status: text(status),
    ...(requestHash !== undefined && { requestHash: text(requestHash) }),
    createdAt: text(moment(record.createdAt)),
    updatedAt: text(moment(record.updatedAt)),
    expiresAt: text(moment(record.expiresAt)),
    ttl: number(ttlOf(record.expiresAt)),
    attempt: number(attempt),
    ...(owner !== undefined && { owner: text(owner) }),
    ...(leaseUntil !== undefined && { leaseUntil: text(moment(leaseUntil)) }),
    ...(error !== undefined && { error: text(error) }),
    ...(!takesOver && { onLeaseExpired: text('unknown') }),
  }
}

/** The attributes of a response that fits into its record. */
export function responseAttributes(response: StoredResponse): Item {
  return response.encoding === 'json'
    ? { responsePayload: text(response.text) }
    : { responseBytes: bytes(response.bytes), responseEncoding: text('gzip') }
}

export function readItem(key: RecordKey, item: Item, now: number): ReadRecord {
  const status = optionalText(item, 'status') ?? ''
  if (!STATUSES.includes(status)) {
    throw new CatracaError('STORE_CORRUPT', 'an idempotency record has an unknown status')
  }
  const expiresAt = expiryOf(item)
  const updatedAt = momentOf(item, 'updatedAt') ?? now
  return {
    record: {
      key,
      status: status as RecordStatus,
      requestHash: optionalText(item, 'requestHash'),
      attempt: optionalNumber(item, 'attempt') ?? 1,
      createdAt: momentOf(item, 'createdAt') ?? updatedAt,
      updatedAt,
      expiresAt,
      // A record without a lease is leased until it expires.
      leaseUntil: status === 'IN_PROGRESS' ? (momentOf(item, 'leaseUntil') ?? expiresAt) : undefined,
      response: responseOf(item),
      omittedBytes: optionalNumber(item, 'omittedBytes'),
      error: optionalText(item, 'error'),
      owner: optionalText(item, 'owner'),
      takesOver: optionalText(item, 'onLeaseExpired') !== 'unknown',
      isForeign: item.attempt === undefined,
    },
    parts: partsOf(item),
  }
}

function responseOf(item: Item): StoredResponse | undefined {
  const compressed = optionalBytes(item, 'responseBytes')
  if (compressed !== undefined) return { encoding: 'gzip', bytes: compressed }
  const payload = optionalText(item, 'responsePayload')
  return payload === undefined ? undefined : { encoding: 'json', text: payload }
}

function expiryOf(item: Item): number {
  const seconds = optionalNumber(item, 'ttl')
  return momentOf(item, 'expiresAt') ?? (seconds === undefined ? NEVER : seconds * 1000)
}

/** Other programs may write times in other formats, or none. */
function momentOf(item: Item, name: string): number | undefined {
  const ms = Date.parse(item[name]?.S ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
