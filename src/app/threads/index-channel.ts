import type { PackedError } from '../../core/packed-error.js'
import type { StoreSource } from '../../engines/engine.js'

/** Messages between the serving thread and the thread that builds an index. */
export interface BuildTask {
  source: StoreSource
  listId: string
  /** The incarnation of the list, in case its id belongs to another list by then. */
  incarnation: number
  full: boolean
  leaseMs: number
  threads: number
}

export type BuildResult = 'built' | 'busy' | 'gone' | 'unchanged'

export type BuildMessage = { type: 'done'; outcome: BuildResult } | { type: 'failed'; error: PackedError }
