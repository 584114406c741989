import type { CacheItem, StoredValue } from '../../../guards/cache/port.js'

/**
 * A row of `cache-entries`: three doubles, little-endian (when it expires, when it was stored, the number of the last
 * invalidation when its fill began), the tags as JSON after their length, whether the value is text, the value.
 */
const HEAD_BYTES = 29
const TEXT = 1

interface EntryRow {
  goneAt: number
  storedAt: number
  number: number
  tags: readonly string[]
}

export function packRow({ value, tags, lifeMs }: CacheItem, storedAt: number, number: number): Buffer {
  const isText = typeof value === 'string'
  const tagText = tags.length === 0 ? '' : JSON.stringify(tags)
  const tagBytes = Buffer.byteLength(tagText)
  const valueBytes = isText ? Buffer.byteLength(value) : value.length
  const row = Buffer.allocUnsafe(HEAD_BYTES + tagBytes + valueBytes)
  row.writeDoubleLE(storedAt + lifeMs, 0)
  row.writeDoubleLE(storedAt, 8)
  row.writeDoubleLE(number, 16)
  row.writeUInt32LE(tagBytes, 24)
  row[28] = isText ? TEXT : 0
  row.write(tagText, HEAD_BYTES)
  if (isText) row.write(value, HEAD_BYTES + tagBytes)
  else row.set(value, HEAD_BYTES + tagBytes)
  return row
}

/** The same row with another expiry. */
export function withEnd(row: Buffer, goneAt: number): Buffer {
  const ending = Buffer.from(row)
  ending.writeDoubleLE(goneAt, 0)
  return ending
}

export function readHead(row: Buffer): EntryRow {
  const tagBytes = row.readUInt32LE(24)
  const tags =
    tagBytes === 0 ? [] : (JSON.parse(row.toString('utf8', HEAD_BYTES, HEAD_BYTES + tagBytes)) as string[])
  return { goneAt: row.readDoubleLE(0), storedAt: row.readDoubleLE(8), number: row.readDoubleLE(16), tags }
}

export function readValue(row: Buffer, { goneAt, storedAt }: EntryRow, now: number): StoredValue {
  const from = HEAD_BYTES + row.readUInt32LE(24)
  const value = row[28] === TEXT ? row.toString('utf8', from) : row.subarray(from)
  return { value, leftMs: goneAt - now, ageMs: Math.max(0, now - storedAt) }
}
