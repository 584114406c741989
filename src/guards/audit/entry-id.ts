/**
 * An id consists of the time in ms, a number that increases within the process, and the process, each in
 * hexadecimal digits of fixed width. So ids sort in the order they were made. A time alone sorts before every id
 * of that time, and so serves as a bound.
 */
const TIME_DIGITS = 11
const NUMBER_DIGITS = 6
const PROCESS_DIGITS = 8
export const ID_LENGTH = TIME_DIGITS + NUMBER_DIGITS + PROCESS_DIGITS + 2
const MAX_TIME = 16 ** TIME_DIGITS - 1
const MAX_NUMBER = 16 ** NUMBER_DIGITS
const ID = /^[0-9a-f]{11}(-[0-9a-f]{6}-[0-9a-f]{8})?$/

export const DAY_MS = 24 * 3_600_000

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** The bound below all ids of that time or later, and above all earlier ones. */
export function boundAt(ms: number): string {
  return hex(Math.min(Math.max(0, Math.floor(ms)), MAX_TIME), TIME_DIGITS)
}

/** `process`: eight hexadecimal digits that identify the process. */
export function entryId(ms: number, number: number, process: string): string {
  return `${boundAt(ms)}-${hex(number % MAX_NUMBER, NUMBER_DIGITS)}-${process}`
}

/** The time of an id or a bound. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 16)
}

export function isPosition(text: string): boolean {
  return ID.test(text)
}

/** Days since the epoch. Engines store the trail by day. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS)
}

/** For example `2030-01-31`. */
export function dayName(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
