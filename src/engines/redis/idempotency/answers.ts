import { CatracaError } from '../../../core/errors.js'
import type { ListedRecord, StoredRecord, StoredResponse } from '../../../guards/idempotency/port.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'
import { stateOf } from './state.js'

/** A record as `lua/idempotency-claim.lua` returns it. */
export type Found =
  | [kind: typeof OWN, at: number, state: Buffer, response: Buffer | null]
  | [kind: typeof FOREIGN, at: number, expiresAt: number, response: Buffer]

export const OWN = 0
export const FOREIGN = 3

export function recordOf(key: RecordKey, found: Found): StoredRecord {
  return found[0] === FOREIGN
    ? foreignRecord(key, found[1], found[2], found[3])
    : ownRecord(key, found[2].toString(), found[3])
}

/** A record by its state alone. */
export function listedRecord(key: RecordKey, line: string): ListedRecord {
  const { status, rest, leaseUntil, takesOver: _, ...state } = stateOf(line)
  const omitted = status === 'COMPLETED' && rest?.startsWith('none ') ? Number(rest.slice(5)) : undefined
  return {
    ...{ key, status, ...state, omittedBytes: omitted },
    leaseUntil: status === 'IN_PROGRESS' ? leaseUntil : undefined,
    error: status === 'FAILED' ? rest : undefined,
  }
}

/** Only the bytes of another program's record are known. */
function foreignRecord(key: RecordKey, at: number, expiresAt: number, response: Buffer): StoredRecord {
  return {
    ...{ key, status: 'COMPLETED', requestHash: undefined, attempt: 1 },
    ...{ createdAt: at, updatedAt: at, expiresAt, leaseUntil: undefined },
    ...{ response: responseOf(response, hasGzipMagic(response)), omittedBytes: undefined, error: undefined },
    ...{ takesOver: true, isForeign: true },
  }
}

/** Field by field: this runs for every replay, and spreading objects takes several times as long. */
function ownRecord(key: RecordKey, line: string, response: Buffer | null): StoredRecord {
  const state = stateOf(line)
  const { status, rest } = state
  const isCompleted = status === 'COMPLETED'
  const hasNone = isCompleted && rest?.startsWith('none') === true
  // The response was deleted or evicted. The request must not be executed again because of that.
  if (isCompleted && !hasNone && response === null)
    throw new CatracaError('STORE_CORRUPT', 'the response of a completed request is missing in Redis')
  return {
    key,
    status,
    requestHash: state.requestHash,
    attempt: state.attempt,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    expiresAt: state.expiresAt,
    leaseUntil: status === 'IN_PROGRESS' ? state.leaseUntil : undefined,
    response: hasNone || response === null ? undefined : responseOf(response, rest === 'gzip'),
    omittedBytes: hasNone && rest.length > 5 ? Number(rest.slice(5)) : undefined,
    error: status === 'FAILED' ? rest : undefined,
    takesOver: state.takesOver,
    isForeign: false,
  }
}

function responseOf(bytes: Buffer, isGzip: boolean): StoredResponse {
  return isGzip ? { encoding: 'gzip', bytes } : { encoding: 'json', text: bytes.toString() }
}

/** The first bytes of gzip, which no JSON text has. */
const hasGzipMagic = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
