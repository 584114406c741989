import type { Clock } from '../../../core/clock.js'
import type { BulkStore, ImportSession, MemberStore } from '../port.js'
import type { ImportOptions } from '../types.js'
import type { Collected } from './collect.js'
import type { ImportLimits } from './limits.js'
import type { ProgressReport } from './progress.js'
import type { Pause } from './run.js'

/** The parameters of `runImport`. */
export interface ImportJob {
  bulk: BulkStore
  members: Pick<MemberStore, 'remove'>
  listId: string
  body: AsyncIterable<Uint8Array>
  options: ImportOptions & Required<Pick<ImportOptions, 'importId' | 'mode' | 'format'>>
  clock: Clock
  /** Where a replace sorts what does not fit in memory. Created when needed; temporary files are removed. */
  spillDir: string
  leaseMs: number
  limits?: Partial<ImportLimits>
  /** False for lists of `trusted` precision: rows with `expiresAt` are rejected. */
  takesExpiry?: boolean
}

/** What the modes work with, once the import has begun. */
export interface ImportWork {
  bulk: BulkStore
  members: Pick<MemberStore, 'remove'>
  session: ImportSession
  clock: Clock
  limits: ImportLimits
  spillDir: string
  /** Aborted with the reason that ends the import. */
  signal: AbortSignal
  /** The runs, in shared buffers: each is valid only until the next one is requested. */
  runs: AsyncIterable<Collected>
  progress: ProgressReport
  pause: Pause
}
