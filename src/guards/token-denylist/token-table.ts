/**
 * Hashes of tokens, each with the second of its expiry, in typed arrays: 12 bytes a slot, at most four of five
 * slots used. Divided into segments, so that an insertion moves only a part of the table.
 */
const SEGMENTS = 256
const WORDS = 3
const FIRST_SLOTS = 16
const MAX_LOAD = 0.8
const GROWTH = 1.5

interface Segment {
  /** For each slot: high and low word of the hash, and the second of its expiry (0: free). */
  words: Uint32Array
  slots: number
  used: number
}

export class TokenTable {
  private readonly segments: Segment[] = Array.from({ length: SEGMENTS }, () => emptySegment(FIRST_SLOTS))
  private next = 0
  size = 0

  get bytes(): number {
    return this.segments.reduce((sum, { words }) => sum + words.byteLength, 0)
  }

  /** If the token exists already, the later expiry wins. */
  add(hi: number, lo: number, endSecond: number): void {
    const segment = this.segments[lo & (SEGMENTS - 1)]!
    if (segment.used + 1 > segment.slots * MAX_LOAD)
      this.rebuild(segment, Math.ceil(segment.slots * GROWTH), 0)
    if (insert(segment, hi >>> 0, lo >>> 0, endSecond)) this.size++
  }

  /** The second of its expiry, or 0 if it is not in the table. */
  find(hi: number, lo: number): number {
    const { words, slots } = this.segments[lo & (SEGMENTS - 1)]!
    const high = hi >>> 0
    const low = lo >>> 0
    let slot = slotOf(high, slots)
    while (true) {
      const at = slot * WORDS
      const end = words[at + 2]!
      if (end === 0) return 0
      if (words[at] === high && words[at + 1] === low) return end
      slot = slot + 1 === slots ? 0 : slot + 1
    }
  }

  /** Drops expired tokens from some segments. Repeated calls go round all segments. */
  sweep(second: number, segments: number): void {
    for (let i = 0; i < segments; i++) {
      const segment = this.segments[this.next]!
      this.next = (this.next + 1) % SEGMENTS
      let over = 0
      for (let at = 2; at < segment.words.length; at += WORDS) {
        const end = segment.words[at]!
        if (end !== 0 && end <= second) over++
      }
      if (over === 0) continue
      // Half empty, so that the next insertion does not make it grow again.
      this.rebuild(segment, Math.max(FIRST_SLOTS, (segment.used - over) * 2), second)
    }
  }

  private rebuild(segment: Segment, slots: number, over: number): void {
    const { words, used } = segment
    segment.words = new Uint32Array(slots * WORDS)
    segment.slots = slots
    segment.used = 0
    for (let at = 0; at < words.length; at += WORDS) {
      const end = words[at + 2]!
      if (end > over) insert(segment, words[at]!, words[at + 1]!, end)
    }
    this.size += segment.used - used
  }
}

const emptySegment = (slots: number): Segment => ({ words: new Uint32Array(slots * WORDS), slots, used: 0 })

const slotOf = (high: number, slots: number): number => Math.floor((high * slots) / 0x100000000)

/** False if it existed already. */
function insert(segment: Segment, high: number, low: number, endSecond: number): boolean {
  const { words, slots } = segment
  let slot = slotOf(high, slots)
  while (true) {
    const at = slot * WORDS
    if (words[at + 2] === 0) {
      words[at] = high
      words[at + 1] = low
      words[at + 2] = endSecond
      segment.used++
      return true
    }
    if (words[at] === high && words[at + 1] === low) {
      if (words[at + 2]! < endSecond) words[at + 2] = endSecond
      return false
    }
    slot = slot + 1 === slots ? 0 : slot + 1
  }
}
