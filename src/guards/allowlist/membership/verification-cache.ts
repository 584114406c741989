import type { MemberState } from '../port.js'

export interface Verified {
  /** Undefined: not a member, according to the store. */
  state: MemberState | undefined
}

const PLACES_PER_SET = 2
/** A tag of 0 marks an empty place. */
const EMPTY = 0

/**
 * Caches recent results of the store, so that a frequently checked member is confirmed once a minute and not at
 * every check. Arrays with two places for each hash: what was confirmed last takes the first place, and what was there
 * moves to the second. With millions of members most checks find nothing here, so finding nothing must be cheap: it
 * compares two numbers. Maps took a fifth of a check of 5 M members.
 */
export class VerificationCache {
  private readonly setCount: number
  private tags = new Int32Array(0)
  private ids: string[] = []
  private incarnations = new Float64Array(0)
  private until = new Float64Array(0)
  private entries: (Verified | undefined)[] = []
  private used = 0
  hits = 0
  misses = 0

  /** Holds at most twice `maxEntries`, rounded up to a power of two. */
  constructor(
    private readonly maxEntries: number,
    private readonly ttlMs: number,
  ) {
    this.setCount = 2 ** Math.ceil(Math.log2(Math.max(1, maxEntries)))
  }

  get size(): number {
    return this.used
  }

  get(incarnation: number, customerId: string, now: number): Verified | undefined {
    const place = this.placeOf(incarnation, customerId)
    if (place < 0 || this.until[place]! <= now) {
      this.misses++
      return undefined
    }
    this.hits++
    const entry = this.entries[place]!
    // What is used stays: only the second place is given away.
    const first = place - (place % PLACES_PER_SET)
    if (place !== first) this.put(first, incarnation, customerId, entry, this.until[place]!)
    return entry
  }

  /** Like `get`, without counting or moving entries. */
  peek(incarnation: number, customerId: string, now: number): Verified | undefined {
    const place = this.placeOf(incarnation, customerId)
    return place < 0 || this.until[place]! <= now ? undefined : this.entries[place]
  }

  set(incarnation: number, customerId: string, state: MemberState | undefined, now: number): void {
    if (this.maxEntries === 0) return
    if (this.tags.length === 0) this.allocate()
    const first = this.setOf(tagOf(incarnation, customerId))
    this.put(first, incarnation, customerId, { state }, now + this.ttlMs)
  }

  delete(incarnation: number, customerId: string): void {
    const place = this.placeOf(incarnation, customerId)
    if (place >= 0) this.clear(place)
  }

  deleteList(incarnation: number): void {
    for (let place = 0; place < this.tags.length; place++) {
      if (this.tags[place] !== EMPTY && this.incarnations[place] === incarnation) this.clear(place)
    }
  }

  /** -1: not here. */
  private placeOf(incarnation: number, customerId: string): number {
    if (this.used === 0) return -1
    const tag = tagOf(incarnation, customerId)
    const first = this.setOf(tag)
    for (let place = first; place < first + PLACES_PER_SET; place++) {
      if (
        this.tags[place] === tag &&
        this.incarnations[place] === incarnation &&
        this.ids[place] === customerId
      )
        return place
    }
    return -1
  }

  /** Puts an entry first in its set. What was first becomes second. */
  private put(first: number, incarnation: number, customerId: string, entry: Verified, until: number): void {
    const known = this.placeOf(incarnation, customerId)
    if (known !== first) this.makeRoom(first, known)
    this.tags[first] = tagOf(incarnation, customerId)
    this.ids[first] = customerId
    this.incarnations[first] = incarnation
    this.until[first] = until
    this.entries[first] = entry
  }

  /** `known`: where the customer of the new entry is, if anywhere. */
  private makeRoom(first: number, known: number): void {
    const second = first + 1
    if (known < 0) {
      if (this.tags[first] === EMPTY || this.tags[second] === EMPTY) this.used++
      if (this.tags[first] === EMPTY) return
    }
    this.tags[second] = this.tags[first]!
    this.ids[second] = this.ids[first]!
    this.incarnations[second] = this.incarnations[first]!
    this.until[second] = this.until[first]!
    this.entries[second] = this.entries[first]
  }

  private clear(place: number): void {
    this.tags[place] = EMPTY
    this.ids[place] = ''
    this.entries[place] = undefined
    this.used--
  }

  private allocate(): void {
    const places = this.setCount * PLACES_PER_SET
    this.tags = new Int32Array(places)
    this.incarnations = new Float64Array(places)
    this.until = new Float64Array(places)
    this.ids = new Array(places).fill('')
    this.entries = new Array(places).fill(undefined)
  }

  private setOf(tag: number): number {
    return ((tag >>> 1) & (this.setCount - 1)) * PLACES_PER_SET
  }
}

/** A hash that is never 0. Callers choose the ids, but whoever makes two collide only costs a confirmation. */
function tagOf(incarnation: number, customerId: string): number {
  let hash = incarnation | 0
  for (let i = 0; i < customerId.length; i++) hash = Math.imul(hash ^ customerId.charCodeAt(i), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1
}
