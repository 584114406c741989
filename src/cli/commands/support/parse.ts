import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { INTEGER_RULE, largeInteger } from '../../../core/large-integers.js'
import type { RampStep } from '../../../guards/allowlist/types.js'

/** Parsers for option values. A wrong value is a usage error, reported before anything is opened. */

export function list(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.includes('')) throw new InvalidArgumentError('Separate the ids by single commas.')
  return parts
}

export const digits =
  (most: number, rule = 'Give a whole number.') =>
  (text: string): number => {
    if (!/^\d+$/.test(text) || text.length > most) throw new InvalidArgumentError(rule)
    return Number(text)
  }

export const wholeNumber = digits(15)

/** A share as `0.25` or `25%`. */
export function share(text: string): number {
  const match = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(text)
  const value = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1)
  if (!(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError('Give a share from 0 to 1, such as 0.25 or 25%.')
  }
  return value
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** Epoch milliseconds of an ISO 8601 time. A zone is required, so that it means the same everywhere. */
export function time(text: string): number {
  const ms = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) {
    throw new InvalidArgumentError('Give an ISO 8601 time with its zone, such as 2026-12-01T00:00:00Z.')
  }
  return ms
}

/** JSON text, or the content of a file named after `@`. */
export function jsonObject(text: string): Record<string, unknown> {
  let source = text
  if (text.startsWith('@')) {
    try {
      source = readFileSync(text.slice(1), 'utf8')
    } catch (error) {
      throw new InvalidArgumentError(`The file cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    throw new InvalidArgumentError('Give a JSON object, or @FILE.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError('Give a JSON object, or @FILE.')
  }
  const large = largeInteger(source, value)
  if (large !== undefined) throw new InvalidArgumentError(`${large} ${INTEGER_RULE}.`)
  return value as Record<string, unknown>
}

/** `TIME=SHARE`, collected over repeated options. */
export function step(text: string, before: RampStep[] = []): RampStep[] {
  const split = text.lastIndexOf('=')
  if (split < 0) throw new InvalidArgumentError('Give TIME=SHARE, such as 2026-12-01T00:00:00Z=0.25.')
  return [...before, { at: time(text.slice(0, split)), percentage: share(text.slice(split + 1)) }]
}
