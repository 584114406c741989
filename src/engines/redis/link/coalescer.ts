import { CatracaError } from '../../../core/errors.js'
import { soon } from '../../../core/timers.js'

/** Items that are sent together. The carrier ends the batch by exactly one of the two calls, once. */
export interface Batch<Item, Result> {
  readonly items: Item[]
  /** For each item, in order, a result, or an Error for that item only. */
  settle(results: readonly (Result | Error)[]): void
  fail(error: unknown): void
}

type Carry<Group, Item, Result> = (group: Group, batch: Batch<Item, Result>) => void

/** A carrier that returns its results. */
export function returning<Group, Item, Result>(
  carry: (group: Group, items: Item[]) => Promise<readonly (Result | Error)[]>,
): Carry<Group, Item, Result> {
  return (group, batch) => {
    carry(group, batch.items).then(
      (results) => batch.settle(results),
      (error) => batch.fail(error),
    )
  }
}

interface CoalescerOptions<Item> {
  maxItems: number
  /** Maximum bytes of one batch. A larger item is sent alone. */
  maxBytes?: number
  sizeOf?: (item: Item) => number
  /**
   * A batch is full with half of the items that were pending lately. With all of them in one batch, the server would wait
   * while this process reads the replies and sends again, and this process while the server works.
   */
  overlaps?: boolean
}

class PendingBatch<Item, Result> implements Batch<Item, Result> {
  readonly items: Item[] = []
  readonly resolves: ((result: Result) => void)[] = []
  readonly rejects: ((error: unknown) => void)[] = []

  constructor(
    private readonly onEnd: (items: number) => void,
    public bytes: number,
  ) {}

  settle(results: readonly (Result | Error)[]): void {
    const { items, resolves, rejects } = this
    if (results.length !== items.length) {
      const message = `${items.length} calls in one batch got ${results.length} answers`
      this.fail(new CatracaError('INTERNAL', message))
      return
    }
    this.onEnd(items.length)
    for (let i = 0; i < results.length; i++) {
      const result = results[i]!
      if (result instanceof Error) rejects[i]!(result)
      else resolves[i]!(result)
    }
  }

  fail(error: unknown): void {
    this.onEnd(this.items.length)
    for (const reject of this.rejects) reject(error)
  }
}

/** Batches are not halved below this: sending more of them would cost more than working at the same time gains. */
const LEAST_ITEMS = 16
/** Of the most that were pending lately, with each batch: after a burst, batches become smaller again. */
const SHARE_FORGOTTEN = 1 / 16

/**
 * Collects the calls of one event-loop turn, by group, and sends each group as one batch.
 *
 * If no batch is in flight, a batch is sent as soon as the running code ends, so a single caller never waits.
 * Otherwise it is sent at the end of the turn, after all sockets of the turn were read, so that requests of many
 * connections share a batch. There is no timer.
 */
export class Coalescer<Group, Item, Result> {
  private readonly groups = new Map<Group, PendingBatch<Item, Result>>()
  private scheduled = false
  /** Items in flight, or waiting to be sent. */
  private pending = 0
  /** The most that were pending lately. */
  private pendingLately = 0
  /** Batches in flight. */
  private carried = 0

  constructor(
    private readonly carry: Carry<Group, Item, Result>,
    private readonly options: CoalescerOptions<Item>,
  ) {}

  ask(group: Group, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.roomFor(group, item)
      this.pending++
      waiting.items.push(item)
      waiting.resolves.push(resolve)
      waiting.rejects.push(reject)
      if (this.isFull(waiting.items.length)) {
        // The batch is full. It is sent now, so that the server can start while earlier replies are still being read.
        this.groups.delete(group)
        this.carryOne(group, waiting)
        return
      }
      if (this.scheduled) return
      this.scheduled = true
      if (this.carried === 0) process.nextTick(this.carryAll)
      else soon(this.carryAll)
    })
  }

  private isFull(items: number): boolean {
    const { maxItems, overlaps = false } = this.options
    // Also what this turn has asked so far, of all groups: their batches overlap each other already.
    const lately = Math.max(this.pending, this.pendingLately)
    return items >= maxItems || (overlaps && items >= LEAST_ITEMS && 2 * items >= lately)
  }

  private roomFor(group: Group, item: Item): PendingBatch<Item, Result> {
    const { maxBytes = Number.POSITIVE_INFINITY, sizeOf } = this.options
    const bytes = sizeOf === undefined ? 0 : sizeOf(item)
    const waiting = this.groups.get(group)
    if (waiting !== undefined) {
      if (waiting.bytes + bytes <= maxBytes) {
        waiting.bytes += bytes
        return waiting
      }
      this.carryOne(group, waiting)
    }
    const fresh = new PendingBatch<Item, Result>(this.onEnd, bytes)
    this.groups.set(group, fresh)
    return fresh
  }

  private readonly carryAll = (): void => {
    this.scheduled = false
    const groups = [...this.groups]
    this.groups.clear()
    for (const [group, waiting] of groups) this.carryOne(group, waiting)
  }

  private carryOne(group: Group, batch: PendingBatch<Item, Result>): void {
    this.carried++
    this.pendingLately = Math.max(this.pending, this.pendingLately - SHARE_FORGOTTEN * this.pendingLately)
    try {
      this.carry(group, batch)
    } catch (error) {
      batch.fail(error)
    }
  }

  private readonly onEnd = (items: number): void => {
    this.carried--
    this.pending -= items
  }
}
