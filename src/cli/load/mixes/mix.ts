import type { Target } from '../../commands/support/target.js'
import type { Origin } from '../origin.js'
import type { NextRequest, Operation } from '../request.js'

/** What a mix may know of the run. */
export interface MixContext {
  readonly origin: Origin
  /** In [0, 1). */
  readonly random: () => number
  /** Lists to ask about. */
  readonly lists: readonly string[]
  /** Customers who are on them. */
  readonly members: readonly string[]
  /** How many entities, locks, tokens and cached keys there are. */
  readonly keys: number
  readonly cacheSpace: string
  /** Different in each run, so that what one run left behind does not answer the next. */
  readonly runId: string
}

/** A load by name: what it needs, and what it asks. */
export interface Mix {
  readonly description: string
  /** Whether it asks about allowlists. */
  readonly needsLists?: boolean
  /** Makes what it asks about, except the lists. */
  prepare?(target: Target, context: MixContext): Promise<void>
  cleanup?(target: Target, context: MixContext): Promise<void>
  open(context: MixContext): NextRequest
}

export function operation(name: string, ...statuses: number[]): Operation {
  const expected = new Set(statuses)
  return { name, expects: (status) => expected.has(status) }
}

export function below(random: () => number, count: number): number {
  return Math.floor(random() * count)
}
