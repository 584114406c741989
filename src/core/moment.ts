import { invalid } from './errors.js'

/** ISO 8601, or a Date. Not a number: it could mean seconds, as in a JWT, or milliseconds. */
export type Moment = string | Date

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/
/** Memory stores seconds in 32 bits, which last until 2106. */
const MAX_MS = 0xffff_fffe * 1000

/** Epoch milliseconds. */
export function momentOf(path: string, value: unknown): number {
  const ms =
    value instanceof Date
      ? value.getTime()
      : typeof value === 'string' && ISO_TIME.test(value)
        ? Date.parse(value)
        : Number.NaN
  if (Number.isNaN(ms) || ms < 0) {
    throw invalid(path, 'must be a time in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z, or a Date')
  }
  return Math.min(ms, MAX_MS)
}
