import type { MaybePromise } from '../maybe.js'

export interface LogEntry {
  sequence: number
  /** See entry.ts. */
  bytes: Uint8Array
}

/**
 * What happened to the members of each list, in order: a log per list incarnation, with sequence numbers that have
 * no holes, kept for a while.
 */
export interface ChangeFeed {
  /** The number of the last entry; undefined when the list is gone. */
  position(incarnation: number): MaybePromise<number | undefined>
  /** Entries behind `after`, oldest first, some at a time; `gap` when the next one is no longer kept. */
  read(incarnation: number, after: number): MaybePromise<LogEntry[] | 'gap'>
  /**
   * Whether anything may have changed since this was asked last, for engines that can tell without waiting. The
   * others answer false, and rely on `watch`.
   */
  stirred(): boolean
  /** Calls `wake` soon after something changed. Calls may be lost or come for nothing. */
  watch(wake: () => void): { stop(): void }
}
