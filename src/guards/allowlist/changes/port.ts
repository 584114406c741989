import type { MaybePromise } from '../../../core/maybe-promise.js'

/** A list id and its incarnation, which distinguishes it from earlier lists with the same id. */
export interface ListRef {
  readonly id: string
  readonly incarnation: number
}

/** How far one log was read. */
export interface LogPosition {
  readonly sequence: number
  /**
   * Mark of the entry with this number, for engines that can lose entries and reuse their numbers (a failover to a
   * replica that was behind). A different mark at the same number means a different history. 0 on other engines.
   */
  readonly mark: number
}

/** How far a list was read: one position per log. A list has one log per shard. */
export type Position = readonly LogPosition[]

export interface LogEntry extends LogPosition {
  /** Index of the log within the list. */
  log: number
  /** Encoded as in entry.ts. */
  bytes: Uint8Array
}

export interface LogPart {
  entries: LogEntry[]
  /** False: there are no further entries. */
  more: boolean
  /**
   * Age of this answer when it was returned, for logs that are written after the changes. Newer changes may be
   * missing. 0 when absent.
   */
  ageMs?: number
  /**
   * For engines that can replace all members of a list at once: the generation of the member set, including every
   * log entry up to here.
   */
  generation?: number
}

/**
 * The ordered member changes of each list. Each list incarnation has its own logs, with sequence numbers without
 * gaps, stored for a limited time.
 */
export interface ChangeFeed {
  /**
   * Whether `hasChanges` reports every change, by any process, at the moment it is called. If not, an image is
   * only as fresh as the last read of the log.
   */
  readonly isImmediate: boolean
  /** The last entry of each log. Undefined if the list was deleted. */
  position(list: ListRef): MaybePromise<Position | undefined>
  /** Entries after `after`, oldest first within each log. `gap` when the logs no longer continue from there. */
  read(list: ListRef, after: Position): MaybePromise<LogPart | 'gap'>
  /** Whether anything may have changed since the last call. False where the engine does not know. */
  hasChanges(): boolean
  /** Calls `wake` soon after a change, with the list if known. Calls may be missing or spurious. */
  watch(wake: (listId?: string) => void): { stop(): void }
}

export function samePosition(a: Position, b: Position): boolean {
  return a.length === b.length && a.every(({ sequence, mark }, log) => isAt(b[log]!, sequence, mark))
}

const isAt = (position: LogPosition, sequence: number, mark: number): boolean =>
  position.sequence === sequence && position.mark === mark
