import { invalid } from '../../core/errors.js'
import { CHANNELS, type Channel } from './types.js'

export interface CodeOptions {
  digits: number
  lifeMs: Record<Channel, number>
  /** Guesses allowed per code. */
  maxAttempts: number
  /** Failures of an address and purpose, over all its codes, before it is locked. */
  maxFailures: number
  /** How long it is locked after the last failure, and how long a failure counts. */
  lockMs: number
  issuesPerMinute: number
  issuesPerHour: number
  /** An engine that has not answered within this time counts as unavailable, and every code is refused. */
  timeoutMs: number
}

export const DEFAULT_CODES: CodeOptions = {
  digits: 6,
  lifeMs: { email: 10 * 60_000, phone: 5 * 60_000 },
  maxAttempts: 5,
  maxFailures: 10,
  lockMs: 15 * 60_000,
  issuesPerMinute: 1,
  issuesPerHour: 5,
  timeoutMs: 3000,
}

const DAY_MS = 24 * 3_600_000
const LIFE_MS = [1000, DAY_MS] as const
const BOUNDS: Record<Exclude<keyof CodeOptions, 'lifeMs'>, readonly [least: number, most: number]> = {
  digits: [4, 12],
  maxAttempts: [1, 1000],
  maxFailures: [1, 1000],
  lockMs: [1000, DAY_MS],
  issuesPerMinute: [1, 10_000],
  issuesPerHour: [1, 10_000],
  timeoutMs: [1, DAY_MS],
}

/** Strict, because a mistyped value would be dangerous: a limit that is not a number limits nothing. */
export function codeOptions(given: Partial<CodeOptions>): CodeOptions {
  const options = { ...DEFAULT_CODES, ...given }
  for (const [name, bounds] of Object.entries(BOUNDS)) {
    checkWhole(`codes.${name}`, options[name as keyof typeof BOUNDS], bounds)
  }
  for (const channel of CHANNELS) checkWhole(`codes.lifeMs.${channel}`, options.lifeMs[channel], LIFE_MS)
  return options
}

function checkWhole(path: string, value: unknown, [least, most]: readonly [number, number]): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalid(path, `must be a whole number from ${least} to ${most}`)
  }
}
