import type { MemberAttributes, MemberRecord } from './port.js'

/**
 * The stored row of a member, for engines that build the next generation of a list in the rows of the current one.
 *
 * `from` is the first generation that sees the row, `until` the first that no longer does. `pin` marks a row that
 * was changed individually while a replace to that generation was running, so the replace must not touch it. A row
 * removed individually during a replace stays as a tombstone for the same reason.
 */
export interface WindowedRow extends MemberAttributes {
  addedAt: number
  from: number
  until: number
  pin: number
  tombstone: boolean
  /** Attributes that replace the others from a generation on. */
  next?: { from: number; attributes: MemberAttributes }
}

export const FOREVER = 0xffffffff

export function visible(row: WindowedRow | undefined, generation: number): boolean {
  return row !== undefined && !row.tombstone && row.from <= generation && generation < row.until
}

/** The attributes that a generation sees. */
export function attributesAt(row: WindowedRow, generation: number): MemberAttributes {
  return row.next !== undefined && generation >= row.next.from ? row.next.attributes : row
}

/** Visible and not expired. */
export function isMember(row: WindowedRow | undefined, generation: number, now: number): boolean {
  return visible(row, generation) && (attributesAt(row!, generation).expiresAt ?? Infinity) > now
}

export function newWindowedRow(attributes: MemberAttributes | undefined, addedAt: number): WindowedRow {
  const row: WindowedRow = { addedAt, from: 0, until: FOREVER, pin: 0, tombstone: false }
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

export function toMember(customerId: string, row: WindowedRow, generation: number): MemberRecord {
  return withAttributes({ customerId, addedAt: row.addedAt } as MemberRecord, attributesAt(row, generation))
}
