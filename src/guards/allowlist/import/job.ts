import type { Clock } from '../../../core/clock.js'
import type { BulkStore, ImportSession } from '../port.js'
import type { ImportOptions } from '../types.js'
import type { Collected } from './collect.js'
import type { ImportLimits } from './limits.js'
import type { ProgressReport } from './progress.js'
import type { Pause } from './run.js'

/** What a caller of `runImport` decides. */
export interface ImportJob {
  bulk: BulkStore
  listId: string
  body: AsyncIterable<Uint8Array>
  options: ImportOptions & Required<Pick<ImportOptions, 'importId' | 'mode' | 'format'>>
  clock: Clock
  /** Where a replace sorts what does not fit memory. It is made when needed, and left without litter. */
  spillDir: string
  leaseMs: number
  limits?: Partial<ImportLimits>
  /** False for lists of `trusted` precision: rows with `expiresAt` are rejected. */
  takesExpiry?: boolean
}

/** What the two modes work with, once the import has begun. */
export interface ImportWork {
  bulk: BulkStore
  session: ImportSession
  clock: Clock
  limits: ImportLimits
  spillDir: string
  /** Aborted with what ends the import. */
  signal: AbortSignal
  /** One run after the other, in the same buffers: each is gone when the next is asked for. */
  runs: AsyncIterable<Collected>
  progress: ProgressReport
  pause: Pause
}
