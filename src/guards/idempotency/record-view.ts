import { isoTime } from '../../core/clock.js'
import { afterOperation, operationIn } from './input.js'
import type { StoredRecord } from './port.js'
import { responseText } from './responses.js'
import type { RecordView } from './types.js'

/** A record with the field names of the source table, without its owner. */
export async function toView(record: StoredRecord, asked: string): Promise<RecordView> {
  const { key, status, requestHash, attempt, createdAt, updatedAt, expiresAt } = record
  const { leaseUntil, response, omittedBytes, error } = record
  return {
    // As stored: `:` is not escaped in the last part.
    pk: `${key.operation.replaceAll(':', '%3A')}#${key.key}`,
    operationType: operationIn(requestHash) ?? asked,
    idempotencyKey: key.key,
    status,
    ...(requestHash !== undefined && { requestHash: afterOperation(requestHash) }),
    ...(response !== undefined && { responsePayload: await responseText(response) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    expiresAt: isoTime(expiresAt),
    // Rounded up: a process that deletes by `ttl` must not delete early.
    ttl: Math.ceil(expiresAt / 1000),
    attempt,
    ...(leaseUntil !== undefined && { leaseUntil: isoTime(leaseUntil) }),
    ...(omittedBytes !== undefined && { omittedBytes }),
    ...(error !== undefined && { error }),
    ...(!record.takesOver && { onLeaseExpired: 'unknown' as const }),
  }
}
