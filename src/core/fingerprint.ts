import { createHash } from 'node:crypto'

/** A short hash of a JSON value. The order of fields does not matter, nor does one that is undefined. */
export function fingerprint(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('base64url')
    .slice(0, 22)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  // As pairs: a field may be called `__proto__`.
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)])
}
