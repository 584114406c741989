import type { PackedError } from '../../core/packed-error.js'
import type { StoreSource } from '../../engines/engine.js'
import type { ImportOptions, ImportProgress, ImportResult } from '../../guards/allowlist/types.js'

/** Messages between the serving thread and an import thread. */

export interface ImportTask {
  source: StoreSource
  listId: string
  options: Omit<ImportOptions, 'signal' | 'onProgress'> &
    Required<Pick<ImportOptions, 'importId' | 'mode' | 'format'>>
  leaseMs: number
  /** Difference between the clock of the instance and the system clock. */
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
  /** Requests one more chunk. */
  | { type: 'pull' }
  | { type: 'progress'; progress: ImportProgress }
  | { type: 'done'; result: ImportResult }
  | { type: 'failed'; error: PackedError }

/** Chunks in flight: enough to keep the import busy, few enough to save memory. */
export const CHUNKS_IN_FLIGHT = 8
