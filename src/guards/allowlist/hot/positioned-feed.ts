import { type MaybePromise, whenReady } from '../../../core/maybe-promise.js'
import type { ChangeFeed, ListRef, LogPart, LogPosition, Position } from '../changes/port.js'

const MAX_LISTS = 10_000

/**
 * A change feed that remembers how far this process has read some lists. Sets that are
 * behind that position must not answer.
 */
export class PositionedFeed implements ChangeFeed {
  readonly isImmediate: boolean
  private readonly positions = new Map<number, LogPosition[]>()

  constructor(
    private readonly feed: ChangeFeed,
    private readonly listIds: ReadonlySet<string>,
  ) {
    this.isImmediate = feed.isImmediate
  }

  /** Undefined: this process has read nothing of the list. */
  seen(incarnation: number): Position | undefined {
    return this.positions.get(incarnation)
  }

  position(list: ListRef): MaybePromise<Position | undefined> {
    return this.feed.position(list)
  }

  read(list: ListRef, after: Position): MaybePromise<LogPart | 'gap'> {
    const part = this.feed.read(list, after)
    if (!this.listIds.has(list.id)) return part
    return whenReady(part, (read) => {
      if (read !== 'gap') this.note(list.incarnation, after, read)
      return read
    })
  }

  hasChanges(): boolean {
    return this.feed.hasChanges()
  }

  watch(wake: (listId?: string) => void): { stop(): void } {
    return this.feed.watch(wake)
  }

  private note(incarnation: number, after: Position, { entries }: LogPart): void {
    const before = this.positions.get(incarnation)
    const goesOn = before?.length === after.length && before.every(({ mark }, i) => mark === after[i]!.mark)
    const reached = goesOn ? before.map((one, i) => later(one, after[i]!)) : [...after]
    for (const { log, sequence, mark } of entries) reached[log] = later(reached[log]!, { sequence, mark })
    if (before === undefined && this.positions.size >= MAX_LISTS) this.positions.clear()
    this.positions.set(incarnation, reached)
  }
}

const later = (a: LogPosition, b: LogPosition): LogPosition => (b.sequence > a.sequence ? b : a)

/** Whether content at this position includes everything up to the other position. */
export function reaches(position: Position, floor: Position): boolean {
  return (
    position.length === floor.length &&
    position.every(({ sequence, mark }, log) => mark === floor[log]!.mark && sequence >= floor[log]!.sequence)
  )
}
