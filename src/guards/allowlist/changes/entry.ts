import { MAX_CUSTOMER_KEY_LENGTH } from '../customer-key.js'

/**
 * One entry of a list's log: the member changes of one engine step, packed.
 *
 *   reset      FF: all members were replaced, and every image of the list must be loaded again
 *   changes    items, one after the other:
 *     01 addedAt(6) expiresAt(6, zeros: never) length-1(1) key    a customer was added, or added again
 *     02 length-1(1) key                                          the same, with the times of the previous item
 *     03 length-1(1) key                                          a customer was removed
 *
 * Keys are encoded as in `customer-key.ts`. Numbers are big-endian.
 */
const RESET = 0xff
const ADDED = 1
const ADDED_LIKEWISE = 2
const REMOVED = 3
const MAX_ITEM_BYTES = 1 + 6 + 6 + 1 + MAX_CUSTOMER_KEY_LENGTH

export const RESET_ENTRY: Uint8Array = Uint8Array.of(RESET)

/** Collects the changes of one step. Reusable. */
export class EntryWriter {
  private buffer = Buffer.alloc(4096)
  private end = 0
  private addedAt = Number.NaN
  private expiresAt: number | undefined

  get isEmpty(): boolean {
    return this.end === 0
  }

  clear(): void {
    this.end = 0
    this.addedAt = Number.NaN
  }

  added(bytes: Uint8Array, start: number, end: number, addedAt: number, expiresAt: number | undefined): void {
    this.reserve()
    if (addedAt === this.addedAt && expiresAt === this.expiresAt) {
      this.buffer[this.end++] = ADDED_LIKEWISE
    } else {
      this.buffer[this.end++] = ADDED
      this.end = this.buffer.writeUIntBE(addedAt, this.end, 6)
      this.end = this.buffer.writeUIntBE(expiresAt ?? 0, this.end, 6)
      this.addedAt = addedAt
      this.expiresAt = expiresAt
    }
    this.key(bytes, start, end)
  }

  removed(bytes: Uint8Array, start: number, end: number): void {
    this.reserve()
    this.buffer[this.end++] = REMOVED
    this.key(bytes, start, end)
  }

  /** The entry. The next change overwrites its memory. */
  bytes(): Buffer {
    return this.buffer.subarray(0, this.end)
  }

  private key(bytes: Uint8Array, start: number, end: number): void {
    this.buffer[this.end++] = end - start - 1
    for (let i = start; i < end; i++) this.buffer[this.end++] = bytes[i]!
  }

  private reserve(): void {
    if (this.end + MAX_ITEM_BYTES <= this.buffer.length) return
    const larger = Buffer.alloc(2 * this.buffer.length)
    this.buffer.copy(larger)
    this.buffer = larger
  }
}

export interface ChangeReader {
  added(bytes: Uint8Array, start: number, end: number, addedAt: number, expiresAt: number | undefined): void
  removed(bytes: Uint8Array, start: number, end: number): void
}

export function isReset(entry: Uint8Array): boolean {
  return entry[0] === RESET
}

/** Passes the changes of an entry to the reader, one by one. */
export function readEntry(entry: Uint8Array, reader: ChangeReader): void {
  let at = 0
  let addedAt = 0
  let expiresAt: number | undefined
  while (at < entry.length) {
    const kind = entry[at++]
    if (kind === ADDED) {
      addedAt = readTime(entry, at)
      expiresAt = readTime(entry, at + 6) || undefined
      at += 12
    }
    const start = at + 1
    at = start + entry[at]! + 1
    if (kind === REMOVED) reader.removed(entry, start, at)
    else reader.added(entry, start, at, addedAt, expiresAt)
  }
}

function readTime(bytes: Uint8Array, at: number): number {
  const high = (bytes[at]! << 8) | bytes[at + 1]!
  const low = ((bytes[at + 2]! << 24) | (bytes[at + 3]! << 16) | (bytes[at + 4]! << 8) | bytes[at + 5]!) >>> 0
  return high * 0x100000000 + low
}
