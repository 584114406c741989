import { isoTime } from '../../core/clock.js'
import { afterOperation, operationIn } from './input.js'
import type { StoredRecord } from './port.js'
import { responseText } from './responses.js'
import type { RecordView } from './types.js'

/** A record with the names of the source table. Who owns it is not in there. */
export async function toView(record: StoredRecord, asked: string): Promise<RecordView> {
  const { key, status, requestHash, attempt, createdAt, updatedAt, expiresAt } = record
  const { leaseUntil, response, omittedBytes, error } = record
  return {
    // As it is stored where it is: `:` stands for itself only in the last part.
    pk: `${key.operation.replaceAll(':', '%3A')}#${key.key}`,
    operationType: operationIn(requestHash) ?? asked,
    idempotencyKey: key.key,
    status,
    ...(requestHash !== undefined && { requestHash: afterOperation(requestHash) }),
    ...(response !== undefined && { responsePayload: await responseText(response) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    expiresAt: isoTime(expiresAt),
    // Never before it: what deletes by `ttl` must not delete early.
    ttl: Math.ceil(expiresAt / 1000),
    attempt,
    ...(leaseUntil !== undefined && { leaseUntil: isoTime(leaseUntil) }),
    ...(omittedBytes !== undefined && { omittedBytes }),
    ...(error !== undefined && { error }),
    ...(!record.takesOver && { onLeaseExpired: 'unknown' as const }),
  }
}
