import { UUID_TAG } from '../customer-key.js'
import type { CustomerProbe } from './hash.js'

const FIRST_CAPACITY = 16
/** The word before a key: how many words follow, and whether they are a UUID. */
const UUID_FLAG = 0x10000
const LENGTH_MASK = 0xffff

/**
 * The exact changes of a list since its snapshot: the last one per customer. A hash table in typed arrays that
 * compares whole keys. Its positions come from the list's keyed hash, so an attacker cannot force collisions.
 * Entries are numbered from 0 in the order in which their customers first appeared, and are never removed.
 */
export class Overlay {
  /** Entry + 1 of each position, or 0 if it is free. At most half are used. */
  private table = new Int32Array(2 * FIRST_CAPACITY)
  private hashes = new Int32Array(2 * FIRST_CAPACITY)
  private keyAt = new Uint32Array(FIRST_CAPACITY)
  private keys = new Int32Array(5 * FIRST_CAPACITY)
  private keysEnd = 0
  private added = new Uint8Array(FIRST_CAPACITY)
  private addedAtMs = new Float64Array(FIRST_CAPACITY)
  /** NaN: never. */
  private expiresAtMs = new Float64Array(FIRST_CAPACITY)
  private entries = 0

  /** Customers with a change. */
  get size(): number {
    return this.entries
  }

  get sizeBytes(): number {
    const { table, hashes, keyAt, keys, added, addedAtMs, expiresAtMs } = this
    return [table, hashes, keyAt, keys, added, addedAtMs, expiresAtMs].reduce(
      (sum, array) => sum + array.byteLength,
      0,
    )
  }

  /** Records that the customer was added. `probe` must be hashed with the list's key. */
  add(probe: CustomerProbe, addedAtMs: number, expiresAtMs?: number): void {
    const entry = this.entryFor(probe)
    this.added[entry] = 1
    this.addedAtMs[entry] = addedAtMs
    this.expiresAtMs[entry] = expiresAtMs ?? Number.NaN
  }

  remove(probe: CustomerProbe): void {
    const entry = this.entryFor(probe)
    this.added[entry] = 0
    this.addedAtMs[entry] = Number.NaN
    this.expiresAtMs[entry] = Number.NaN
  }

  /** The entry of the customer, or -1 if it did not change. `probe` must be hashed with the list's key. */
  find(probe: CustomerProbe): number {
    const { table, hashes } = this
    const { hi, lo } = probe
    const mask = table.length - 1
    for (let place = lo & mask; ; place = (place + 1) & mask) {
      const entry = table[place]! - 1
      if (entry < 0) return -1
      if (hashes[2 * entry] === hi && hashes[2 * entry + 1] === lo && this.hasKey(entry, probe)) return entry
    }
  }

  /** True: the last change added the customer. False: it removed it. */
  isAdded(entry: number): boolean {
    return this.added[entry] === 1
  }

  addedAt(entry: number): number {
    return this.addedAtMs[entry]!
  }

  expiresAt(entry: number): number | undefined {
    const ms = this.expiresAtMs[entry]!
    return Number.isNaN(ms) ? undefined : ms
  }

  /** The upper word of the entry's hash, which determines its page. */
  hashHi(entry: number): number {
    return this.hashes[2 * entry]!
  }

  /** Writes the customer's key as in `customer-key.ts`. Returns the offset after it. */
  writeKey(entry: number, target: Uint8Array, offset: number): number {
    const { keys } = this
    const at = this.keyAt[entry]!
    const header = keys[at]!
    const bytes = new Uint8Array(keys.buffer, 4 * (at + 1), 4 * (header & LENGTH_MASK))
    if ((header & UUID_FLAG) !== 0) {
      target[offset] = UUID_TAG
      target.set(bytes, offset + 1)
      return offset + 1 + bytes.length
    }
    // A string ends with a byte 01 and zeros.
    const length = bytes.lastIndexOf(1)
    target.set(bytes.subarray(0, length), offset)
    return offset + length
  }

  private hasKey(entry: number, probe: CustomerProbe): boolean {
    const { keys } = this
    const at = this.keyAt[entry]!
    const { words, wordCount } = probe
    if (keys[at] !== keyHeader(probe)) return false
    for (let i = 0; i < wordCount; i++) if (keys[at + 1 + i] !== words[i]) return false
    return true
  }

  private entryFor(probe: CustomerProbe): number {
    const found = this.find(probe)
    return found >= 0 ? found : this.insert(probe)
  }

  private insert(probe: CustomerProbe): number {
    const { words, wordCount } = probe
    this.reserve(wordCount + 1)
    const entry = this.entries++
    this.hashes[2 * entry] = probe.hi
    this.hashes[2 * entry + 1] = probe.lo
    this.keyAt[entry] = this.keysEnd
    this.keys[this.keysEnd++] = keyHeader(probe)
    for (let i = 0; i < wordCount; i++) this.keys[this.keysEnd++] = words[i]!
    this.place(entry)
    return entry
  }

  private place(entry: number): void {
    const { table } = this
    const mask = table.length - 1
    let place = this.hashes[2 * entry + 1]! & mask
    while (table[place] !== 0) place = (place + 1) & mask
    table[place] = entry + 1
  }

  private reserve(keyWords: number): void {
    if (this.keysEnd + keyWords > this.keys.length) this.keys = grown(this.keys, keyWords)
    if (this.entries < this.keyAt.length) return
    this.hashes = grown(this.hashes)
    this.keyAt = grown(this.keyAt)
    this.added = grown(this.added)
    this.addedAtMs = grown(this.addedAtMs)
    this.expiresAtMs = grown(this.expiresAtMs)
    this.table = new Int32Array(2 * this.table.length)
    for (let entry = 0; entry < this.entries; entry++) this.place(entry)
  }
}

function keyHeader(probe: CustomerProbe): number {
  return probe.isUuid ? probe.wordCount | UUID_FLAG : probe.wordCount
}

type Growing = Int32Array | Uint32Array | Uint8Array | Float64Array

/** A copy of twice the length plus `more`. */
function grown<T extends Growing>(array: T, more = 0): T {
  const larger = new (array.constructor as new (length: number) => T)(2 * array.length + more)
  larger.set(array)
  return larger
}
