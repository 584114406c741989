import type { Argument } from './redis.js'

/** One command in flight. Each time it is sent, exactly one of the two callbacks is called, once. */
export interface CallInFlight {
  readonly args: readonly Argument[]
  readonly binary: boolean
  readonly deadlineMs: number
  onReply(reply: unknown): void
  /** With an error reply of the server (`ErrorReply`), or `NoReply`. */
  onFailure(error: unknown): void
}

const FIRST_CAPACITY = 64

/**
 * The commands in flight on one connection, in the order of sending, which is the order of the replies. A ring buffer
 * instead of a Set, whose hash table would be rebuilt again and again as entries come and go.
 */
export class CallsInFlight {
  private slots: (CallInFlight | undefined)[] = new Array(FIRST_CAPACITY).fill(undefined)
  private sentMs: number[] = new Array(FIRST_CAPACITY).fill(0)
  private first = 0
  private next = 0
  private count = 0

  get size(): number {
    return this.count
  }

  /** Returns its place, which is the number of those that were added before. With it, `take` removes it. */
  add(flight: CallInFlight, sentMs: number): number {
    if (this.next - this.first === this.slots.length) this.grow()
    const at = this.next % this.slots.length
    this.slots[at] = flight
    this.sentMs[at] = sentMs
    this.count++
    return this.next++
  }

  /** Undefined if it was removed before. */
  at(place: number): CallInFlight | undefined {
    return place < this.first ? undefined : this.slots[place % this.slots.length]
  }

  /** When a call was sent that is still in flight. */
  sentAt(place: number): number {
    return this.sentMs[place % this.sentMs.length]!
  }

  /** False if it was removed before. */
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
    const sentMs = new Array<number>(slots.length).fill(0)
    for (let place = this.first; place < this.next; place++) {
      slots[place % slots.length] = this.slots[place % this.slots.length]
      sentMs[place % slots.length] = this.sentAt(place)
    }
    this.slots = slots
    this.sentMs = sentMs
  }
}
