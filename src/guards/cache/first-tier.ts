import { LRUCache } from 'lru-cache'
import { type Content, isNone } from './content.js'
import type { FirstTierOptions } from './options.js'

export interface Entry<T> {
  readonly content: Content<T>
  readonly storedAt: number
  readonly freshUntil: number
  /** Until then it may be served stale. */
  readonly keepUntil: number
  /** Undefined if not known. */
  readonly tags: readonly string[] | undefined
  /** Size of the encoded value before gzip: about its size in memory. */
  readonly bytes: number
}

/** An entry stored with its answer, so that a hit allocates nothing, not even a promise. */
export interface CachedEntry<T> extends Entry<T> {
  /** Undefined if each reader gets a copy. */
  readonly answer: Promise<T | undefined> | undefined
  /** The source has no value. */
  readonly isNegative: boolean
  /** After this time the second tier is read again. */
  readonly useUntil: number
}

/** Held while a key is being read or written. Shows whether the key was invalidated meanwhile. */
export interface Pin {
  readonly key: string
  users: number
  isVoid: boolean
}

/** Approximate size of an entry without key and value. */
const ENTRY_BYTES = 200

/** The tier in this process. A value that was invalidated while it was in flight is not stored. */
export class FirstTier<T> {
  /** Undefined if the first tier is off. The space reads it directly, because that path must be short. */
  readonly entries: LRUCache<string, CachedEntry<T>> | undefined
  /** Whether every invalidation is received. */
  isTrusted = true
  evictions = 0
  private readonly pins = new Map<string, Pin>()

  constructor(private readonly options: FirstTierOptions | false) {
    if (options === false) return
    this.entries = new LRUCache<string, CachedEntry<T>>({
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
    const kept: CachedEntry<T> = { ...entry, useUntil, answer, isNegative: isNone(entry.content) }
    this.entries.set(pin.key, kept, { size: entry.bytes + pin.key.length + ENTRY_BYTES })
  }

  /**
   * Called when the change that the pin was for is decided. A value that was read before it and is still in flight
   * must not replace it. If another caller changed the same key meanwhile, the order is unknown, so nothing is
   * stored and the next read goes to the second tier.
   */
  replace(pin: Pin, entry: Entry<T> | undefined, now: number): void {
    const isOvertaken = pin.isVoid
    this.drop(pin.key)
    if (isOvertaken || entry === undefined) return
    const own = this.pin(pin.key)
    this.put(own, entry, now)
    this.unpin(own)
  }

  /** Marks the entry as expired, and keeps it while it may be served if the source fails. */
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

  /** Drops entries that may have the tag. Values in flight may have it too. */
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

  /** Later callers get a new pin. */
  private void(pin: Pin | undefined): void {
    if (pin === undefined) return
    pin.isVoid = true
    this.pins.delete(pin.key)
  }
}
