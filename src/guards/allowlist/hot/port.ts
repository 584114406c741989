import type { ListRef, Position } from '../changes/port.js'
import type { CheckedList } from '../port.js'

/** What a set holds: the members of a list in one state of it, with everything up to these entries of its logs. */
export interface HotContent {
  /** As the source of the members calls it. */
  readonly state: string
  readonly position: Position
}

export interface HotFinding extends HotContent {
  /** `unsure`: a membership that ends some day; only the store knows when. */
  found: 'member' | 'absent' | 'unsure'
}

/** How a customer is, which a set can be told any number of times. */
export interface HotMember {
  readonly customerId: string
  readonly is: 'member' | 'expiring' | 'absent'
}

/**
 * Sets of members in a place that is faster than the store, and that may forget anything at any moment. What is lost
 * there is never taken for an absent customer.
 */
export interface HotSets {
  /** Undefined: there is no set that is whole, and was fresh lately. */
  find(listId: string, customerId: string): Promise<HotFinding | undefined>
  /** Makes this process the updater of a set for a while; undefined when another one is, or the place is away. */
  claim(listId: string): Promise<HotSetWriter | undefined>
  close(): Promise<void>
}

/**
 * The work of a updater. Every verb answers false, and changes nothing, when another process has become the updater or
 * what it works on is no longer whole.
 */
export interface HotSetWriter {
  /** What the set holds, if it is whole. */
  readonly content: HotContent | undefined
  /** From here on the set does not answer until it is loaded, and confirmed. */
  startLoad(): Promise<boolean>
  load(members: readonly HotMember[]): Promise<boolean>
  finishLoad(content: HotContent): Promise<boolean>
  /** `position`: with these changes the set holds everything up to there. */
  apply(changes: readonly HotMember[], position?: Position): Promise<boolean>
  /** The set holds everything that had happened at this moment, as `performance.now()` told it. */
  confirm(freshAtMs: number): Promise<boolean>
  /** The list is gone. */
  drop(): Promise<boolean>
  /** Lets others go on at once. */
  release(): Promise<void>
}

/** What an engine tells those who copy members elsewhere. */
export interface MemberSource {
  /** Changes with everything that the log does not tell customer by customer: another list, a replace, a move. */
  stateOf(list: CheckedList): string
  /** The members as they are while it runs: changes meanwhile may be in it or not. */
  scan(list: ListRef): AsyncIterable<HotMember[]>
}
