/** Maximum size of a stored entry. */
export const MAX_ENTRY_BYTES = 16 * 1024
const LONG_TEXT = 256
const MANY_FIELDS = 50
const MANY_ITEMS = 20
const DEEP = 4

/** Fields of an entry that may be large. */
const LARGE_FIELDS = ['before', 'after', 'detail'] as const

type Large = Partial<Record<(typeof LARGE_FIELDS)[number], unknown>>

/** The entry as text of limited size. Values that are too large are truncated and marked. */
export function boundedText(entry: Large): string {
  const whole = JSON.stringify(entry)
  if (Buffer.byteLength(whole) <= MAX_ENTRY_BYTES) return whole
  const shorter = JSON.stringify(replaced(entry, (value) => shortened(value, 0)))
  if (Buffer.byteLength(shorter) <= MAX_ENTRY_BYTES) return shorter
  return JSON.stringify(replaced(entry, (value) => ({ cut: true, sizeBytes: sizeOf(value) })))
}

function replaced(entry: Large, by: (value: unknown) => unknown): object {
  const changed = LARGE_FIELDS.filter((name) => entry[name] !== undefined).map((name) => [
    name,
    by(entry[name]),
  ])
  return { ...entry, ...Object.fromEntries(changed) }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Keeps the beginning of a long value, with its full length. */
function shortened(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return value.length <= LONG_TEXT ? value : { cut: true, characters: value.length, start: startOf(value) }
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEP) return { cut: true, sizeBytes: sizeOf(value) }
  if (Array.isArray(value)) {
    const kept = value.slice(0, MANY_ITEMS).map((item) => shortened(item, depth + 1))
    return value.length <= MANY_ITEMS ? kept : { cut: true, items: value.length, start: kept }
  }
  const fields = Object.entries(value)
  const kept = fields
    .slice(0, MANY_FIELDS)
    .map(([name, field]) => [startOf(name), shortened(field, depth + 1)])
  if (fields.length > MANY_FIELDS) kept.push(['cut', true], ['fields', fields.length])
  return Object.fromEntries(kept)
}

const startOf = (value: string): string => value.slice(0, LONG_TEXT)
