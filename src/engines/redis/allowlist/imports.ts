import { NOTHING_YET } from '../../../guards/allowlist/import/checkpoint.js'
import type { ImportCheckpoint, ImportRecord } from '../../../guards/allowlist/port.js'
import type { ImportMode, ImportState } from '../../../guards/allowlist/types.js'

export const EMPTY_CHECKPOINT = JSON.stringify(NOTHING_YET)

/** Fields of the imports hash of a list. No identifier contains `#`. */
export const claimField = (importId: string): string => `${importId}#claim`
/** What batches had done when the list moved to other shards (see bulk-moved.ts). */
export const movedField = (importId: string): string => `${importId}#moved`

/** The lease of an import, as lua/allowlist-import-claim.lua stores it. */
export interface Claim {
  state: ImportState
  mode: ImportMode
  leaseUntil: number
  updatedAt: number
  startedAt: number
}

export function readClaim(text: string): Claim {
  const [state, mode, leaseUntil, updatedAt, startedAt] = text.split(' ', 5)
  return {
    state: state as ImportState,
    mode: mode as ImportMode,
    leaseUntil: Number(leaseUntil),
    updatedAt: Number(updatedAt),
    startedAt: Number(startedAt),
  }
}

export function checkpointText(checkpoint: ImportCheckpoint, error?: string): string {
  const { rowsAcknowledged, inputDigest, added, unchanged, removed, rejected, run, firstErrors } = checkpoint
  const { rowsWithExtraCells } = checkpoint
  const counts = { added, unchanged, removed, rejected, rowsWithExtraCells }
  return JSON.stringify({ rowsAcknowledged, inputDigest, ...counts, run, firstErrors, error })
}

export function importRecord(
  listId: string,
  importId: string,
  claimText: string,
  checkpoint: string,
  now: number,
): ImportRecord {
  const { state, mode, leaseUntil, updatedAt, startedAt } = readClaim(claimText)
  const { error, ...stored } = JSON.parse(checkpoint) as ImportCheckpoint & { error?: string }
  const isRunning = state === 'running'
  return {
    ...stored,
    importId,
    listId,
    mode,
    state: isRunning && leaseUntil <= now ? 'interrupted' : state,
    startedAt,
    updatedAt,
    ...(error === undefined || isRunning ? {} : { error }),
  }
}
