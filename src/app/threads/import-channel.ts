import type { PackedError } from '../../core/packed-error.js'
import type { ImportOptions, ImportProgress, ImportResult } from '../../guards/allowlist/types.js'
import type { EngineSource } from '../open-engine.js'

/** What the serving thread and the thread of an import say to each other. */

export interface ImportTask {
  engine: EngineSource
  listId: string
  options: Omit<ImportOptions, 'signal' | 'onProgress'> &
    Required<Pick<ImportOptions, 'importId' | 'mode' | 'format'>>
  leaseMs: number
  /** The clock of the instance against that of the system. */
  clockOffsetMs: number
  /** False for lists of trusted precision. */
  takesExpiry: boolean
  spillDir: string
}

export type ToWorker =
  | { type: 'chunk'; bytes: Uint8Array }
  | { type: 'end' }
  | { type: 'broken'; message: string }
  | { type: 'abort' }

export type FromWorker =
  /** Room for one more chunk. */
  | { type: 'pull' }
  | { type: 'progress'; progress: ImportProgress }
  | { type: 'done'; result: ImportResult }
  | { type: 'failed'; error: PackedError }

/** Chunks on their way at once: enough to keep the import busy, little enough to hold memory down. */
export const CHUNKS_IN_FLIGHT = 8
