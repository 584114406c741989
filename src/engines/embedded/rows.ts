import type { MemberAttributes, MemberRecord } from '../../allowlist/port.js'

/**
 * How a member is stored: a flags byte, `addedAt`, then what the flags announce.
 *
 * A replace builds the next generation of a list beside the current one, in the same rows: `from` is the first
 * generation that sees the row, `until` the first that no longer does. `pin` marks a row that was changed by hand
 * while the replace to that generation was running, which the replace must then leave alone; a row removed by
 * hand meanwhile stays as a tombstone for the same reason.
 */
export interface Row extends MemberAttributes {
  addedAt: number
  from: number
  until: number
  pin: number
  tombstone: boolean
  /** Attributes that take the place of the others from a generation on. */
  next?: { from: number; attributes: MemberAttributes }
}

export const FOREVER = 0xffffffff

const HAS_EXPIRY = 1
const HAS_FROM = 2
const HAS_UNTIL = 4
const HAS_PIN = 8
const HAS_EXTRA = 16
const TOMBSTONE = 32
const HAS_NEXT = 64
const WINDOWED = HAS_FROM | HAS_UNTIL | TOMBSTONE

const scratch = Buffer.alloc(8192)

/** The row's bytes, in a buffer that is overwritten by the next call. */
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

export function visible(row: Row | undefined, generation: number): boolean {
  return row !== undefined && !row.tombstone && row.from <= generation && generation < row.until
}

/** `visible` of an encoded row, for the hot path: most rows have no window at all. */
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

/** The attributes that a generation sees. */
export function attributesAt(row: Row, generation: number): MemberAttributes {
  return row.next !== undefined && generation >= row.next.from ? row.next.attributes : row
}

/** Visible and not expired. */
export function isMember(row: Row | undefined, generation: number, now: number): boolean {
  return visible(row, generation) && (attributesAt(row!, generation).expiresAt ?? Infinity) > now
}

export function newRow(attributes: MemberAttributes | undefined, addedAt: number): Row {
  const row: Row = { addedAt, from: 0, until: FOREVER, pin: 0, tombstone: false }
  return attributes === undefined ? row : withAttributes(row, attributes)
}

function withAttributes<T extends MemberAttributes>(
  target: T,
  { addedBy, metadata, expiresAt }: MemberAttributes,
): T {
  if (addedBy !== undefined) target.addedBy = addedBy
  if (metadata !== undefined) target.metadata = metadata
  if (expiresAt !== undefined) target.expiresAt = expiresAt
  return target
}

export function sameAttributes(a: MemberAttributes, b: MemberAttributes): boolean {
  return (
    a.addedBy === b.addedBy &&
    a.expiresAt === b.expiresAt &&
    JSON.stringify(a.metadata) === JSON.stringify(b.metadata)
  )
}

export function toMember(customerId: string, row: Row, generation: number): MemberRecord {
  return withAttributes({ customerId, addedAt: row.addedAt } as MemberRecord, attributesAt(row, generation))
}
