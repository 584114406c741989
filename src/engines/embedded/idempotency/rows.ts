import type { ListedRecord, StoredResponse } from '../../../guards/idempotency/port.js'
import type { OwnedRecord } from '../../../guards/idempotency/transitions.js'
import type { RecordKey } from '../../../guards/idempotency/types.js'

/** A row: the length of its head (4 bytes, little-endian), the head as JSON, and the bytes of the response. */
type Head = Omit<OwnedRecord, 'key' | 'response'> & { encoding?: StoredResponse['encoding'] }

const LENGTH_BYTES = 4

export function packRecord({ key: _, response, ...rest }: OwnedRecord): Buffer {
  const head: Head = response === undefined ? rest : { ...rest, encoding: response.encoding }
  const headBytes = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(headBytes.length)
  return Buffer.concat([length, headBytes, bytesOf(response)])
}

/** What a listing says of a record. */
export function unpackHead(key: RecordKey, row: Buffer): ListedRecord {
  const end = LENGTH_BYTES + row.readUInt32LE(0)
  const head = JSON.parse(row.toString('utf8', LENGTH_BYTES, end)) as Head
  const { status, requestHash, attempt, createdAt, updatedAt, expiresAt, leaseUntil, omittedBytes, error } =
    head
  return {
    ...{ key, status, requestHash, attempt, createdAt, updatedAt, expiresAt },
    ...{ leaseUntil, omittedBytes, error },
  }
}

export function unpackRecord(key: RecordKey, row: Buffer): OwnedRecord {
  const end = LENGTH_BYTES + row.readUInt32LE(0)
  const { encoding, ...head } = JSON.parse(row.toString('utf8', LENGTH_BYTES, end)) as Partial<Head>
  return {
    // Undefined fields are not in the JSON.
    ...{
      owner: undefined,
      requestHash: undefined,
      leaseUntil: undefined,
      omittedBytes: undefined,
      error: undefined,
      takesOver: true,
      isForeign: false,
    },
    ...(head as Omit<Head, 'encoding'>),
    key,
    response: encoding && responseOf(encoding, row.subarray(end)),
  }
}

function bytesOf(response: StoredResponse | undefined): Uint8Array {
  if (response === undefined) return Buffer.alloc(0)
  return response.encoding === 'json' ? Buffer.from(response.text) : response.bytes
}

function responseOf(encoding: StoredResponse['encoding'], bytes: Buffer): StoredResponse {
  // Copied, because the buffer of the row belongs to the store.
  return encoding === 'json'
    ? { encoding, text: bytes.toString('utf8') }
    : { encoding, bytes: Uint8Array.from(bytes) }
}
