import { CatracaError } from '../../../core/errors.js'
import type { RecordStatus } from '../../../guards/idempotency/types.js'

/** The content of a state line, without its owner. */
export interface State {
  status: RecordStatus
  updatedAt: number
  leaseUntil: number
  expiresAt: number
  createdAt: number
  attempt: number
  requestHash: string
  /** Whether the mark after the hash is missing. */
  takesOver: boolean
  /** `gzip`, `none` or `none BYTES` for a completed record; the reason for a failed one; otherwise undefined. */
  rest: string | undefined
}

/** Where `lua/idempotency-record.lua` writes the owner. All fields before it have a fixed width. */
const OWNER_AT = 87

/** Comes after the hash of a request whose claim must not be taken over. No hash contains it. */
export const NOT_TAKEN_OVER = '!'

export function stateOf(line: string): State {
  const ownerEnd = line.indexOf(' ', OWNER_AT)
  if (ownerEnd < 0) throw new CatracaError('STORE_CORRUPT', 'a state of an idempotency record cannot be read')
  const hashEnd = line.indexOf(' ', ownerEnd + 1)
  const hash = hashEnd < 0 ? line.slice(ownerEnd + 1) : line.slice(ownerEnd + 1, hashEnd)
  const isMarked = hash.endsWith(NOT_TAKEN_OVER)
  return {
    status: line.slice(0, 11).trimEnd() as RecordStatus,
    updatedAt: Number(line.slice(12, 27)),
    leaseUntil: Number(line.slice(28, 43)),
    expiresAt: Number(line.slice(44, 59)),
    createdAt: Number(line.slice(60, 75)),
    attempt: Number(line.slice(76, 86)),
    requestHash: isMarked ? hash.slice(0, -NOT_TAKEN_OVER.length) : hash,
    takesOver: !isMarked,
    rest: hashEnd < 0 ? undefined : line.slice(hashEnd + 1),
  }
}
