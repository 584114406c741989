import type { PackedError } from '../../core/packed-error.js'
import type { EngineSource } from '../open-engine.js'

/** What the serving thread and the thread that builds an index say to each other. */
export interface BuildTask {
  engine: EngineSource
  listId: string
  /** The list that is meant, should its id belong to another one by then. */
  incarnation: number
  full: boolean
  leaseMs: number
  threads: number
}

export type BuildMessage =
  | { type: 'done'; outcome: 'built' | 'busy' | 'gone' | 'unchanged' }
  | { type: 'failed'; error: PackedError }
