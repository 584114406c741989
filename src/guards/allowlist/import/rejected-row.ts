import type { RejectedRow } from '../types.js'

const MAX_ROW_CHARACTERS = 256
/** No character takes more than 4 bytes. */
const MAX_ROW_BYTES = 4 * MAX_ROW_CHARACTERS
/** Maximum for all rows of an import together: they are stored in its record, and a DynamoDB item holds 400 KB. */
const MAX_SHOWN_BYTES = 128 * 1024

const decoder = new TextDecoder()

/** A row for display. Invalid UTF-8 is marked. A long row is truncated, but not within a character. */
export function shownRow(row: Uint8Array): string {
  const text = decoder.decode(row.subarray(0, MAX_ROW_BYTES)).slice(0, MAX_ROW_CHARACTERS)
  return text.replace(/[\uD800-\uDBFF]$/, '').trimEnd()
}

/** The first errors of all, from those so far and those that follow. */
export function firstOf(sofar: RejectedRow[], more: RejectedRow[], limit: number): RejectedRow[] {
  if (more.length === 0 || sofar.length >= limit) return sofar
  let room = MAX_SHOWN_BYTES - sofar.reduce((sum, { row = '' }) => sum + Buffer.byteLength(row), 0)
  const added = more.slice(0, limit - sofar.length).map(({ line, message, row = '' }) => {
    room -= Buffer.byteLength(row)
    return room < 0 ? { line, message } : { line, message, row }
  })
  return [...sofar, ...added]
}
