import { LRUCache } from 'lru-cache'
import { type Content, isNone } from './content.js'
import type { FirstTierOptions } from './options.js'

/** What is known of a key. */
export interface Entry<T> {
  readonly content: Content<T>
  readonly storedAt: number
  readonly freshUntil: number
  /** Until then it may be served stale. */
  readonly keepUntil: number
  /** Undefined where they are not known. */
  readonly tags: readonly string[] | undefined
  /** Of its stored form, before it was gzipped: about what it takes in memory. */
  readonly bytes: number
}

/** Kept with its answer: a hit then makes nothing new, not even a promise. */
export interface KeptEntry<T> extends Entry<T> {
  /** Undefined where each reader gets a copy. */
  readonly answer: Promise<T | undefined> | undefined
  /** That there is none. */
  readonly isNegative: boolean
  /** When the second tier is asked again. */
  readonly useUntil: number
}

/** Somebody works on this key: whether it was invalidated since they began. */
export interface Pin {
  readonly key: string
  users: number
  isVoid: boolean
}

/** Of an entry beside key and value, about. */
const ENTRY_BYTES = 200

/** The tier in this process. What was invalidated while it was on its way is not taken in. */
export class FirstTier<T> {
  /** Undefined where there is none. The space reads it itself, in the one path that must be short. */
  readonly entries: LRUCache<string, KeptEntry<T>> | undefined
  /** Every invalidation is heard of. */
  isTrusted = true
  evictions = 0
  private readonly pins = new Map<string, Pin>()

  constructor(private readonly options: FirstTierOptions | false) {
    if (options === false) return
    this.entries = new LRUCache<string, KeptEntry<T>>({
      max: options.maxEntries,
      maxSize: options.maxBytes,
      dispose: (_, __, reason) => {
        if (reason === 'evict') this.evictions++
      },
    })
  }

  pin(key: string): Pin {
    let pin = this.pins.get(key)
    if (pin === undefined) this.pins.set(key, (pin = { key, users: 0, isVoid: false }))
    pin.users++
    return pin
  }

  unpin(pin: Pin): void {
    if (--pin.users === 0 && this.pins.get(pin.key) === pin) this.pins.delete(pin.key)
  }

  put(pin: Pin, entry: Entry<T>, now: number): void {
    if (this.entries === undefined || this.options === false || pin.isVoid) return
    const useUntil = Math.min(entry.freshUntil, now + (this.options.ttlMs ?? Number.POSITIVE_INFINITY))
    const { shared, copy } = entry.content
    const answer = copy === undefined ? Promise.resolve(shared) : undefined
    const kept: KeptEntry<T> = { ...entry, useUntil, answer, isNegative: isNone(entry.content) }
    this.entries.set(pin.key, kept, { size: entry.bytes + pin.key.length + ENTRY_BYTES })
  }

  /**
   * The change that the pin was for is decided: what was read before it and is still on its way must not take its place.
   * Where others changed the same key meanwhile nobody knows whose came last, and the second tier is asked.
   */
  replace(pin: Pin, entry: Entry<T> | undefined, now: number): void {
    const isOvertaken = pin.isVoid
    this.drop(pin.key)
    if (isOvertaken || entry === undefined) return
    const own = this.pin(pin.key)
    this.put(own, entry, now)
    this.unpin(own)
  }

  /** It is over, and kept for as long as it may be served when the source fails. */
  expire(key: string, now: number, staleMs: number): void {
    const kept = this.entries?.peek(key)
    this.drop(key)
    if (kept === undefined || staleMs === 0) return
    const own = this.pin(key)
    const keepUntil = Math.min(kept.keepUntil, now + staleMs)
    this.put(own, { ...kept, freshUntil: Math.min(kept.freshUntil, now), keepUntil }, now)
    this.unpin(own)
  }

  drop(key: string): void {
    this.void(this.pins.get(key))
    this.entries?.delete(key)
  }

  /** Those that may have the tag. What is on its way may have it too. */
  dropTag(tag: string): void {
    for (const pin of [...this.pins.values()]) this.void(pin)
    if (this.entries === undefined) return
    for (const [key, { tags }] of this.entries.entries()) {
      if (tags === undefined || tags.includes(tag)) this.entries.delete(key)
    }
  }

  clear(): void {
    for (const pin of [...this.pins.values()]) this.void(pin)
    this.entries?.clear()
  }

  /** Who begins from now on gets a pin of its own. */
  private void(pin: Pin | undefined): void {
    if (pin === undefined) return
    pin.isVoid = true
    this.pins.delete(pin.key)
  }
}
