/**
 * What the trail needs of an engine: entries that are added, read from the newest to the oldest, and dropped when they are
 * too old. No verb changes one. Ids are made by the guard and begin with the time (`entry-id.ts`), so the order is the same
 * for every reader, and to add an entry a second time changes nothing.
 */
export interface AuditStore {
  /** Keeps all of them, at most `MAX_APPENDED`. When it fails some may be kept; it can be done again. */
  append(entries: readonly StoredEntry[], keeping: Retention): Promise<void>
  /**
   * Those with ids below `below` and from `from` on, both of them ids or beginnings of ids: the newest first, at most
   * `limit`. Sees all that was added before the call, by anybody.
   */
  read(below: string, from: string, limit: number): Promise<AuditPart>
  /** Drops what was made before then, in a small step; what expires by itself needs none. */
  sweep(before: number): Promise<{ more: boolean }>
}

export const MAX_APPENDED = 500
export const MAX_READ = 500

export interface StoredEntry {
  id: string
  /** The rest of the entry, in a form that engines need not know. */
  text: string
}

/** An entry of which the text depends on what becomes of a change, for a store that keeps it together with the change. */
export interface PreparedEntry {
  id: string
  /** By outcome; where there is none, nothing is kept. */
  texts: Readonly<Partial<Record<string, string>>>
}

export interface Retention {
  /** How long entries are kept at least. */
  retentionMs: number
  now: number
}

export interface AuditPart {
  entries: readonly StoredEntry[]
  /** Where to read on; absent when nothing is left. There may be one behind a part without entries. */
  next?: string
}
