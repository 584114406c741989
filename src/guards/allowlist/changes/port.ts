import type { MaybePromise } from '../../../core/maybe-promise.js'

/** A list, and which of the lists that ever had its id. */
export interface ListRef {
  readonly id: string
  readonly incarnation: number
}

/** How far one log was read. */
export interface LogPosition {
  readonly sequence: number
  /**
   * Of the entry with this number, where an engine can lose entries and give their numbers out again (a failover to
   * a replica that was behind): another mark at the same number is another history. 0 elsewhere.
   */
  readonly mark: number
}

/** How far a list was read: one position for each of its logs. A list has as many logs as shards. */
export type Position = readonly LogPosition[]

export interface LogEntry extends LogPosition {
  /** Which of the list's logs. */
  log: number
  /** See entry.ts. */
  bytes: Uint8Array
}

export interface LogPart {
  entries: LogEntry[]
  /** False: this was all there is. */
  more: boolean
  /**
   * How old this knowledge was when it was given, where the log is written behind the changes: what changed since
   * then may be missing from it. 0 when absent.
   */
  ageMs?: number
  /**
   * Where an engine can exchange all members of a list at once: which ones these are, with everything that the logs
   * tell up to here.
   */
  generation?: number
}

/**
 * What happened to the members of each list, in order: logs for each list incarnation, with sequence numbers that
 * have no holes, kept for a while.
 */
export interface ChangeFeed {
  /**
   * Whether `stirred` knows of every change, by whomever, at the moment it is asked. Where not, an image is only as
   * fresh as the last time somebody read the log.
   */
  readonly isImmediate: boolean
  /** The last entry of each log; undefined when the list is gone. */
  position(list: ListRef): MaybePromise<Position | undefined>
  /** Entries behind `after`, oldest first within each log; `gap` when the logs do not go on from there. */
  read(list: ListRef, after: Position): MaybePromise<LogPart | 'gap'>
  /** Whether anything may have changed since this was asked last; false where the engine cannot tell. */
  hasChanges(): boolean
  /** Calls `wake` soon after something changed, with the list if it is known. Calls may be lost or come for nothing. */
  watch(wake: (listId?: string) => void): { stop(): void }
}

export function samePosition(a: Position, b: Position): boolean {
  return a.length === b.length && a.every(({ sequence, mark }, log) => isAt(b[log]!, sequence, mark))
}

const isAt = (position: LogPosition, sequence: number, mark: number): boolean =>
  position.sequence === sequence && position.mark === mark
