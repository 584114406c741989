import { compareKeys } from '../customer-key.js'

/** Below this size, insertion is faster than counting digits. */
const SMALL_GROUP = 24
/** One digit per byte value, and 0 for a key that has ended. */
const DIGITS = 257

/**
 * Sorts packed keys by their bytes, most significant first, without moving the keys: only `order` changes. The
 * sort is stable, and equal keys are detected on the way. Long shared prefixes are skipped, not counted. The work
 * is divided into steps, so that sorting a million keys does not block other work.
 */
export class KeySorter {
  private readonly digits: Uint16Array
  private readonly moved: Uint32Array
  private readonly counts = new Int32Array(DIGITS)
  private readonly heads = new Uint32Array(SMALL_GROUP)
  /** Whether an equal key came before, by key number. */
  private readonly isRepeat: Uint8Array
  private repeats = 0
  /** Groups still to sort, as (low, high, depth): all keys of a group agree on their first `depth` bytes. */
  private readonly groups: number[]

  constructor(
    private readonly bytes: Uint8Array,
    /** Key `i` is `bytes[starts[i]]` up to `starts[i + 1]`. */
    private readonly starts: Uint32Array,
    private readonly order: Uint32Array,
  ) {
    this.digits = new Uint16Array(order.length)
    this.moved = new Uint32Array(order.length)
    this.isRepeat = new Uint8Array(starts.length)
    this.groups = [0, order.length, 0]
  }

  /** Handles about this many entries. True when everything is sorted. */
  step(budget: number): boolean {
    let left = budget
    while (this.groups.length > 0 && left > 0) {
      const depth = this.groups.pop()!
      const high = this.groups.pop()!
      const low = this.groups.pop()!
      left -= high - low
      if (high - low <= SMALL_GROUP) this.insert(low, high, depth)
      else this.distribute(low, high, depth)
    }
    return this.groups.length === 0
  }

  /** After sorting: moves the first of each key to the front of `order`, and returns their number. */
  dropRepeats(): number {
    const { order, isRepeat } = this
    if (this.repeats === 0) return order.length
    let kept = 0
    for (let i = 0; i < order.length; i++) if (isRepeat[order[i]!] === 0) order[kept++] = order[i]!
    return kept
  }

  private distribute(low: number, high: number, depth: number): void {
    const { bytes, starts, order, digits, counts } = this
    counts.fill(0)
    for (let i = low; i < high; i++) {
      const key = order[i]!
      const at = starts[key]! + depth
      const digit = at < starts[key + 1]! ? bytes[at]! + 1 : 0
      digits[i] = digit
      counts[digit]!++
    }
    const first = digits[low]!
    if (counts[first] === high - low) {
      if (first === 0) this.markRepeats(low, high)
      else this.groups.push(low, high, this.sharedPrefix(low, high, depth + 1))
      return
    }
    this.scatter(low, high, depth)
  }

  private scatter(low: number, high: number, depth: number): void {
    const { order, digits, moved, counts } = this
    const ended = low + counts[0]!
    let at = low
    for (let digit = 0; digit < DIGITS; digit++) {
      const count = counts[digit]!
      if (count > 1 && digit > 0) this.groups.push(at, at + count, depth + 1)
      counts[digit] = at
      at += count
    }
    for (let i = low; i < high; i++) moved[counts[digits[i]!]!++] = order[i]!
    order.set(moved.subarray(low, high), low)
    this.markRepeats(low, ended)
  }

  /** Keys that agree so far and have all ended are equal. The first one counts. */
  private markRepeats(low: number, high: number): void {
    for (let i = low + 1; i < high; i++) this.markRepeat(this.order[i]!)
  }

  private markRepeat(key: number): void {
    this.isRepeat[key] = 1
    this.repeats++
  }

  /** How many bytes all keys of the group share, known to be at least `depth`. */
  private sharedPrefix(low: number, high: number, depth: number): number {
    const { bytes, starts, order } = this
    const first = starts[order[low]!]!
    let shared = starts[order[low]! + 1]! - first
    for (let i = low + 1; i < high && shared > depth; i++) {
      const start = starts[order[i]!]!
      const limit = Math.min(shared, starts[order[i]! + 1]! - start)
      shared = depth
      while (shared < limit && bytes[start + shared] === bytes[first + shared]) shared++
    }
    return shared
  }

  /** Compares the next four bytes first: read once per key, they are nearly always enough. */
  private insert(low: number, high: number, depth: number): void {
    const { order, heads } = this
    for (let i = low; i < high; i++) {
      const key = order[i]!
      const head = this.head(key, depth)
      let to = i
      while (to > low) {
        const before = heads[to - 1 - low]!
        if (before < head) break
        const difference = before === head ? this.compare(order[to - 1]!, key, depth) : 1
        if (difference === 0) this.markRepeat(key)
        if (difference <= 0) break
        heads[to - low] = before
        order[to] = order[to - 1]!
        to--
      }
      heads[to - low] = head
      order[to] = key
    }
  }

  /**
   * Four bytes from `depth` on as one number. Zeros after the end sort no later than real bytes, and a tie is
   * compared in full.
   */
  private head(key: number, depth: number): number {
    const { bytes, starts } = this
    const at = starts[key]! + depth
    const left = starts[key + 1]! - at
    if (left >= 4) {
      return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
    }
    let head = 0
    for (let i = 0; i < 4; i++) head = head * 256 + (i < left ? bytes[at + i]! : 0)
    return head
  }

  private compare(a: number, b: number, depth: number): number {
    const { bytes, starts } = this
    return compareKeys(bytes, starts[a]! + depth, starts[a + 1]!, bytes, starts[b]! + depth, starts[b + 1]!)
  }
}
