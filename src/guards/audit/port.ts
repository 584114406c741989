/**
 * What the audit trail needs from an engine: entries that are appended, read from newest to oldest, and deleted
 * when too old. No verb changes an entry. The guard makes the ids, which begin with the time (`entry-id.ts`). So
 * the order is the same for every reader, and appending an entry twice changes nothing.
 */
export interface AuditStore {
  /** Stores all of them, at most `MAX_APPENDED`. If it fails, some may be stored. Retrying is safe. */
  append(entries: readonly StoredEntry[], keeping: Retention): Promise<void>
  /**
   * Entries with ids from `from` up to but not including `below`, newest first, at most `limit`. Both bounds are
   * ids or prefixes of ids. Sees every entry appended before the call, by any process.
   */
  read(below: string, from: string, limit: number): Promise<AuditPart>
  /**
   * Deletes entries made before `before`, in a small step. Engines that expire entries themselves have nothing to do.
   */
  sweep(before: number): Promise<{ more: boolean }>
}

export const MAX_APPENDED = 500
export const MAX_READ = 500

export interface StoredEntry {
  id: string
  /** The rest of the entry, opaque to engines. */
  text: string
}

/** An entry whose text depends on the outcome of a change, for engines that store it in the same transaction. */
export interface PreparedEntry {
  id: string
  /** Text by outcome. For an outcome without a text, no entry is stored. */
  texts: Readonly<Partial<Record<string, string>>>
}

export interface Retention {
  /** Minimum time that entries are stored. */
  retentionMs: number
  now: number
}

export interface AuditPart {
  entries: readonly StoredEntry[]
  /** Where to continue reading. Absent at the end. A part without entries may still have a `next`. */
  next?: string
}
