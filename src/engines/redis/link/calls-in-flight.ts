import type { Argument } from './redis.js'

/** One command on its way. Exactly one of the two is called, once for each time it is sent. */
export interface CallInFlight {
  readonly args: readonly Argument[]
  readonly binary: boolean
  readonly deadlineMs: number
  onReply(reply: unknown): void
  /** With an error of the server (`ErrorReply`), or `NoReply`. */
  onFailure(error: unknown): void
}

const FIRST_CAPACITY = 64

/**
 * What is on its way on one connection, in the order of sending, which is that of the answers. A ring and not a Set,
 * whose table is made anew over and over while entries come and go.
 */
export class CallsInFlight {
  private slots: (CallInFlight | undefined)[] = new Array(FIRST_CAPACITY).fill(undefined)
  private first = 0
  private next = 0
  private count = 0

  get size(): number {
    return this.count
  }

  /** The place by which it is taken again. */
  add(flight: CallInFlight): number {
    if (this.next - this.first === this.slots.length) this.grow()
    this.slots[this.next % this.slots.length] = flight
    this.count++
    return this.next++
  }

  /** False when it was taken before. */
  take(place: number): boolean {
    const { length } = this.slots
    if (place < this.first || this.slots[place % length] === undefined) return false
    this.slots[place % length] = undefined
    this.count--
    while (this.first < this.next && this.slots[this.first % length] === undefined) this.first++
    return true
  }

  takeLate(nowMs: number): CallInFlight[] {
    return this.takeIf(({ deadlineMs }) => deadlineMs <= nowMs)
  }

  takeAll(): CallInFlight[] {
    return this.takeIf(() => true)
  }

  private takeIf(isTaken: (flight: CallInFlight) => boolean): CallInFlight[] {
    const taken: CallInFlight[] = []
    for (let place = this.first; place < this.next; place++) {
      const flight = this.slots[place % this.slots.length]
      if (flight === undefined || !isTaken(flight)) continue
      taken.push(flight)
      this.take(place)
    }
    return taken
  }

  private grow(): void {
    const slots = new Array<CallInFlight | undefined>(this.slots.length * 2).fill(undefined)
    for (let place = this.first; place < this.next; place++) {
      slots[place % slots.length] = this.slots[place % this.slots.length]
    }
    this.slots = slots
  }
}
