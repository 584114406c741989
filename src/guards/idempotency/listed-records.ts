import { isoTime } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import { type ListedPage, listedPage, minimumAge, parseListing } from '../../core/listing.js'
import { operationIn } from './input.js'
import type { RecordNaming } from './options.js'
import type { IdempotencyStore, ListedRecord } from './port.js'
import { type ListedRecordView, RECORD_STATUSES, type RecordQuery } from './types.js'

/** A page of records, which may be filtered by what they are. */
export async function listRecords(
  store: IdempotencyStore,
  naming: RecordNaming,
  now: number,
  { operation: given, status, leaseEnded = false, olderThanSeconds, ...query }: RecordQuery,
): Promise<ListedPage<ListedRecordView>> {
  const request = parseListing(query)
  const operation = given === undefined ? undefined : identifier('operation', given)
  if (status !== undefined && !RECORD_STATUSES.includes(status))
    throw invalid('status', `must be ${RECORD_STATUSES.join(' or ')}`)
  if (typeof leaseEnded !== 'boolean') throw invalid('leaseEnded', 'must be true or false')
  const minimumMs = minimumAge('olderThanSeconds', olderThanSeconds)
  // Records that are named by their key alone have their operation in their hash.
  const ofStore = operation === undefined || naming === 'bare' ? request : { ...request, operation }
  const { items, next } = await store.list(ofStore, now)
  const isWanted = (record: ListedRecord) =>
    (operation === undefined || operationOf(record) === operation) &&
    (status === undefined || record.status === status) &&
    (!leaseEnded || (record.leaseUntil ?? Number.POSITIVE_INFINITY) <= now) &&
    now - record.updatedAt >= minimumMs
  return listedPage(
    items.filter(isWanted).map((record) => view(record, now)),
    next,
  )
}

const operationOf = ({ key, requestHash }: ListedRecord): string => operationIn(requestHash) ?? key.operation

function view(record: ListedRecord, now: number): ListedRecordView {
  const { key, status, attempt, createdAt, updatedAt, expiresAt, leaseUntil, omittedBytes, error } = record
  return {
    ...{ operation: operationOf(record), key: key.key, status, attempt },
    ...{ createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt), expiresAt: isoTime(expiresAt) },
    ...(leaseUntil !== undefined && { leaseUntil: isoTime(leaseUntil) }),
    ...(omittedBytes !== undefined && { omittedBytes }),
    ...(error !== undefined && { error }),
    ageMs: Math.max(0, now - updatedAt),
  }
}
