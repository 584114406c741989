import {
  attributesAt,
  FOREVER,
  newWindowedRow as newRow,
  type WindowedRow as Row,
  toMember,
  visible,
} from '../../../guards/allowlist/generation-window.js'

export { isMember } from '../../../guards/allowlist/generation-window.js'
export { attributesAt, FOREVER, newRow, type Row, toMember, visible }

/** A row is a flags byte, `addedAt`, then the fields that the flags announce. */
const HAS_EXPIRY = 1
const HAS_FROM = 2
const HAS_UNTIL = 4
const HAS_PIN = 8
const HAS_EXTRA = 16
const TOMBSTONE = 32
const HAS_NEXT = 64
const WINDOWED = HAS_FROM | HAS_UNTIL | TOMBSTONE

const scratch = Buffer.alloc(8192)

/** The row's bytes. The next call overwrites the buffer. */
export function encodeRow(row: Row): Buffer {
  const extra = encodeExtra(row)
  let flags = 0
  let at = scratch.writeUIntBE(row.addedAt, 1, 6)
  if (row.expiresAt !== undefined) {
    flags |= HAS_EXPIRY
    at = scratch.writeUIntBE(row.expiresAt, at, 6)
  }
  if (row.from !== 0) {
    flags |= HAS_FROM
    at = scratch.writeUInt32BE(row.from, at)
  }
  if (row.until !== FOREVER) {
    flags |= HAS_UNTIL
    at = scratch.writeUInt32BE(row.until, at)
  }
  if (row.pin !== 0) {
    flags |= HAS_PIN
    at = scratch.writeUInt32BE(row.pin, at)
  }
  if (row.tombstone) flags |= TOMBSTONE
  if (extra !== undefined) flags |= HAS_EXTRA
  if (row.next !== undefined) flags |= HAS_NEXT
  scratch[0] = flags
  if (extra === undefined) return scratch.subarray(0, at)
  if (at + extra.length <= scratch.length) return scratch.subarray(0, at + extra.copy(scratch, at))
  return Buffer.concat([scratch.subarray(0, at), extra])
}

function encodeExtra({ addedBy, metadata, next }: Row): Buffer | undefined {
  return addedBy === undefined && metadata === undefined && next === undefined
    ? undefined
    : Buffer.from(JSON.stringify({ addedBy, metadata, next }))
}

export function decodeRow(bytes: Buffer, length = bytes.length): Row {
  const flags = bytes[0]!
  const row: Row = {
    addedAt: bytes.readUIntBE(1, 6),
    from: 0,
    until: FOREVER,
    pin: 0,
    tombstone: (flags & TOMBSTONE) !== 0,
  }
  let at = 7
  if (flags & HAS_EXPIRY) {
    row.expiresAt = bytes.readUIntBE(at, 6)
    at += 6
  }
  if (flags & HAS_FROM) {
    row.from = bytes.readUInt32BE(at)
    at += 4
  }
  if (flags & HAS_UNTIL) {
    row.until = bytes.readUInt32BE(at)
    at += 4
  }
  if (flags & HAS_PIN) {
    row.pin = bytes.readUInt32BE(at)
    at += 4
  }
  if (flags & HAS_EXTRA) {
    const extra = JSON.parse(bytes.toString('utf8', at, length)) as Pick<Row, 'addedBy' | 'metadata' | 'next'>
    if (extra.addedBy !== undefined) row.addedBy = extra.addedBy
    if (extra.metadata !== undefined) row.metadata = extra.metadata
    if (extra.next !== undefined) row.next = extra.next
  }
  return row
}

/** `visible` for an encoded row, for the hot path: most rows have no generation window. */
export function visibleBytes(bytes: Buffer, generation: number): boolean {
  const flags = bytes[0]!
  if ((flags & WINDOWED) === 0) return true
  if (flags & TOMBSTONE) return false
  let at = flags & HAS_EXPIRY ? 13 : 7
  if (flags & HAS_FROM) {
    if (bytes.readUInt32BE(at) > generation) return false
    at += 4
  }
  return (flags & HAS_UNTIL) === 0 || generation < bytes.readUInt32BE(at)
}

export function addedAtOf(bytes: Buffer): number {
  return bytes.readUIntBE(1, 6)
}

export function expiresAtOf(bytes: Buffer, generation: number): number | undefined {
  const flags = bytes[0]!
  if (flags & HAS_NEXT) return attributesAt(decodeRow(bytes), generation).expiresAt
  return flags & HAS_EXPIRY ? bytes.readUIntBE(7, 6) : undefined
}
