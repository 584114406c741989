import type { BeginOutcome, ImportCheckpoint, ImportRecord, ImportRequest, ImportSession } from '../port.js'
import { NOTHING_YET } from './checkpoint.js'

/** An import as an engine stores it: with the lease of the worker that runs it. */
export interface LeasedImport extends ImportRecord {
  owner: string
  leaseUntil: number
}

/** Whether a worker holds its lease. */
export const isLive = (record: LeasedImport | undefined, now: number): boolean =>
  record !== undefined && record.state === 'running' && record.leaseUntil > now

/** Why an import with this record cannot begin, or need not; undefined: it begins, or goes on. */
export function notBegun(
  session: ImportSession,
  existing: LeasedImport | undefined,
  now: number,
): BeginOutcome | undefined {
  if (existing === undefined) return undefined
  if (existing.mode !== session.mode) return { outcome: 'other-mode' }
  if (existing.state === 'completed') {
    return { outcome: 'completed', session, record: publicImport(existing, now) }
  }
  return isLive(existing, now) ? { outcome: 'import-running' } : undefined
}

/** The record of an attempt that begins now, or goes on with an earlier one. */
export function claimedRecord(
  { listId, importId, mode, owner, leaseMs }: ImportRequest,
  existing: LeasedImport | undefined,
  now: number,
): LeasedImport {
  // A replace starts again from the beginning: nothing of an earlier attempt is reused.
  const kept = mode === 'replace' ? undefined : existing
  const { error: _, ...checkpoint }: Partial<LeasedImport> & ImportCheckpoint = kept ?? NOTHING_YET
  return {
    ...checkpoint,
    ...{ importId, listId, mode, owner },
    state: 'running',
    startedAt: existing?.startedAt ?? now,
    updatedAt: now,
    leaseUntil: now + leaseMs,
  }
}

/** The record after a step of its owner, which also renews the lease. */
export function checkpointedRecord<R extends LeasedImport>(
  record: R,
  checkpoint: ImportCheckpoint,
  { leaseMs }: ImportSession,
  now: number,
): R {
  const { run: _, ...kept } = record
  return { ...kept, ...checkpoint, updatedAt: now, leaseUntil: now + leaseMs } as R
}

/** The latest first. */
export const latest = <R extends Pick<ImportRecord, 'startedAt'>>(
  records: readonly R[],
  limit: number,
): R[] => records.toSorted((a, b) => b.startedAt - a.startedAt).slice(0, limit)

/** What callers see of it. */
export function publicImport({ owner: _, leaseUntil, ...record }: LeasedImport, now: number): ImportRecord {
  return record.state === 'running' && leaseUntil <= now ? { ...record, state: 'interrupted' } : record
}

/** Thrown inside a step of an import that lost its lease or its list. */
export class ImportStopped extends Error {
  constructor(readonly outcome: 'lost' | 'list-not-found') {
    super(outcome)
  }
}
