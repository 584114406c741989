import type { ListRef, Position } from '../changes/port.js'
import type { CheckedList } from '../port.js'

/** What a set contains: the members of a list in one state, with all changes up to these log entries. */
export interface HotContent {
  /** The state, as the source of the members names it. */
  readonly state: string
  readonly position: Position
}

export interface HotFinding extends HotContent {
  /** `unsure`: the membership has an expiry, which only the store knows. */
  found: 'member' | 'absent' | 'unsure'
}

/** The state of a customer. Applying it twice does no harm. */
export interface HotMember {
  readonly customerId: string
  readonly is: 'member' | 'expiring' | 'absent'
}

/**
 * Sets of members in a place that is faster than the store and may lose data at any moment. Lost data is never
 * taken for an absent customer.
 */
export interface HotSets {
  /** Undefined: there is no complete set that was fresh recently. */
  find(listId: string, customerId: string): Promise<HotFinding | undefined>
  /**
   * Makes this process the updater of a set for a limited time. Undefined if another process is, or the sets
   * cannot be reached.
   */
  claim(listId: string): Promise<HotSetWriter | undefined>
  close(): Promise<void>
}

/**
 * The writes of an updater. Every verb returns false, and changes nothing, if another process became the updater
 * or the set is no longer complete.
 */
export interface HotSetWriter {
  /** What the set contains, if it is complete. */
  readonly content: HotContent | undefined
  /** From here on the set does not answer until it is loaded and confirmed. */
  startLoad(): Promise<boolean>
  load(members: readonly HotMember[]): Promise<boolean>
  finishLoad(content: HotContent): Promise<boolean>
  /** `position`: with these changes the set contains everything up to there. */
  apply(changes: readonly HotMember[], position?: Position): Promise<boolean>
  /** Confirms that the set contains every change up to this moment, by `performance.now()`. */
  confirm(freshAtMs: number): Promise<boolean>
  /** Deletes the set, because the list was deleted. */
  drop(): Promise<boolean>
  /** Lets another process continue at once. */
  release(): Promise<void>
}

/** What an engine provides for copying members elsewhere. */
export interface MemberSource {
  /** Changes with every event that the log does not record per customer: a new list, a replace, a reshard. */
  stateOf(list: CheckedList): string
  /** Scans the members. Changes during the scan may or may not be included. */
  scan(list: ListRef): AsyncIterable<HotMember[]>
}
