import { LRUCache } from 'lru-cache'
import type { FirstTierOptions } from './options.js'

/** What is known of a key. An object that is kept is shared by all who are answered with it. */
export interface Entry<T> {
  readonly value: T | undefined
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
  readonly answer: Promise<T | undefined>
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
    const kept: KeptEntry<T> = { ...entry, useUntil, answer: Promise.resolve(entry.value) }
    this.entries.set(pin.key, kept, { size: entry.bytes + pin.key.length + ENTRY_BYTES })
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
