import type { Target } from '../../commands/support/target.js'
import type { Origin } from '../origin.js'
import type { NextRequest, Operation } from '../request.js'

/** What a mix knows of the run. */
export interface MixContext {
  readonly origin: Origin
  /** In [0, 1). */
  readonly random: () => number
  /** Lists to check. */
  readonly lists: readonly string[]
  /** Members of these lists. */
  readonly members: readonly string[]
  /** Number of entities, locks, tokens and cached keys. */
  readonly keys: number
  readonly cacheSpace: string
  /** Different in each run, so that records of an earlier run do not answer this one. */
  readonly runId: string
}

/** A named load: what it needs, and the requests that it sends. */
export interface Mix {
  readonly description: string
  /** Whether it checks allowlists. */
  readonly needsLists?: boolean
  /** Creates what it needs, except the lists. */
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
