import { CatracaError } from '../../../core/errors.js'
import { soon } from '../../../core/timers.js'

/** Sends the items of a batch. Returns for each item, in order, a result, or an Error for that item only. */
export type Carry<Group, Item, Result> = (
  group: Group,
  items: Item[],
) => Promise<readonly (Result | Error)[]> | readonly (Result | Error)[]

export interface CoalescerOptions<Item> {
  maxItems: number
  /** Maximum bytes of one batch. A larger item is sent alone. */
  maxBytes?: number
  sizeOf?: (item: Item) => number
}

interface PendingItem<Item, Result> {
  items: Item[]
  resolves: ((result: Result) => void)[]
  rejects: ((error: unknown) => void)[]
  bytes: number
}

/**
 * Collects the calls of one event-loop turn, by group, and sends each group as one batch.
 *
 * If no batch is in flight, a batch is sent as soon as the running code ends, so a single caller never waits.
 * Otherwise it is sent at the end of the turn, after all sockets of the turn were read, so that requests of many
 * connections share a batch. There is no timer.
 */
export class Coalescer<Group, Item, Result> {
  private readonly groups = new Map<Group, PendingItem<Item, Result>>()
  private scheduled = false
  /** Batches in flight. */
  private carried = 0

  constructor(
    private readonly carry: Carry<Group, Item, Result>,
    private readonly options: CoalescerOptions<Item>,
  ) {}

  ask(group: Group, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.roomFor(group, item)
      waiting.items.push(item)
      waiting.resolves.push(resolve)
      waiting.rejects.push(reject)
      if (waiting.items.length >= this.options.maxItems) {
        // The batch is full. It is sent now, so that the server can start while earlier replies are still being read.
        this.groups.delete(group)
        void this.carryOne(group, waiting)
        return
      }
      if (this.scheduled) return
      this.scheduled = true
      if (this.carried === 0) process.nextTick(this.carryAll)
      else soon(this.carryAll)
    })
  }

  private roomFor(group: Group, item: Item): PendingItem<Item, Result> {
    const { maxBytes = Number.POSITIVE_INFINITY, sizeOf } = this.options
    const bytes = sizeOf === undefined ? 0 : sizeOf(item)
    const waiting = this.groups.get(group)
    if (waiting !== undefined) {
      if (waiting.bytes + bytes <= maxBytes) {
        waiting.bytes += bytes
        return waiting
      }
      void this.carryOne(group, waiting)
    }
    const fresh: PendingItem<Item, Result> = { items: [], resolves: [], rejects: [], bytes }
    this.groups.set(group, fresh)
    return fresh
  }

  private readonly carryAll = (): void => {
    this.scheduled = false
    const groups = [...this.groups]
    this.groups.clear()
    for (const [group, waiting] of groups) void this.carryOne(group, waiting)
  }

  private async carryOne(
    group: Group,
    { items, resolves, rejects }: PendingItem<Item, Result>,
  ): Promise<void> {
    this.carried++
    let results: readonly (Result | Error)[]
    try {
      results = await this.carry(group, items)
      if (results.length !== items.length) {
        throw new CatracaError('INTERNAL', `${items.length} calls in one batch got ${results.length} answers`)
      }
    } catch (error) {
      this.carried--
      for (const reject of rejects) reject(error)
      return
    }
    this.carried--
    for (let i = 0; i < results.length; i++) {
      const result = results[i]!
      if (result instanceof Error) rejects[i]!(result)
      else resolves[i]!(result)
    }
  }
}
