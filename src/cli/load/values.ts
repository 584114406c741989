import { InvalidArgumentError } from 'commander'

/** Parsers for option values of a load test. */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const MAX_RATE = 1_000_000
const MAX_DURATION_MS = 24 * 3_600_000

/** `500ms`, `30s`, `2m`, `1h`. */
export function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text)
  const ms = match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2]!]!
  if (!(ms > 0 && ms <= MAX_DURATION_MS))
    throw new InvalidArgumentError('Give a time up to 24h with its unit, such as 500ms, 30s or 2m.')
  return ms
}

/** A duration, or `0` for none. */
export function pauseMs(text: string): number {
  return /^0(ms|s|m|h)?$/.test(text) ? 0 : durationMs(text)
}

export function rate(text: string): number {
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  if (!(value > 0 && value <= MAX_RATE))
    throw new InvalidArgumentError('Give requests a second, above 0 and up to 1000000.')
  return value
}

export interface RateRange {
  from: number
  to: number
}

/** `1000..20000`. */
export function rateRange(text: string): RateRange {
  const [from = '', to = '', ...more] = text.split('..')
  const range = { from: rate(from), to: rate(to) }
  if (more.length > 0 || range.from >= range.to)
    throw new InvalidArgumentError('Give two rates, the lower one first, such as 1000..20000.')
  return range
}

export function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`)
    return value
  }
}
