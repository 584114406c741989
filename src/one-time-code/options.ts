import type { Channel } from './types.js'

export interface CodeOptions {
  digits: number
  lifeMs: Record<Channel, number>
  /** Guesses at one code. */
  maxAttempts: number
  /** Failures of an address and purpose, over all its codes, until it is locked … */
  maxFailures: number
  /** … for so long, from the last of them; failures count for as long. */
  lockMs: number
  issuesPerMinute: number
  issuesPerHour: number
  /** An engine that has not decided by then counts as unavailable, and nothing passes. */
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
