import type { PackedError } from '../../core/packed-error.js'
import type { EngineSource } from '../open-engine.js'

/** Messages between the serving thread and the thread that builds an index. */
export interface BuildTask {
  engine: EngineSource
  listId: string
  /** The incarnation of the list, in case its id belongs to another list by then. */
  incarnation: number
  full: boolean
  leaseMs: number
  threads: number
}

export type BuildMessage =
  | { type: 'done'; outcome: 'built' | 'busy' | 'gone' | 'unchanged' }
  | { type: 'failed'; error: PackedError }
