import { CatracaError } from '../../../core/errors.js'
import { MAX_CUSTOMER_KEY_LENGTH, UUID_KEY_LENGTH, UUID_TAG } from '../customer-key.js'

/**
 * The 64-bit hash of a customer under a list's 128-bit key: the first two words of Chaskey-12 (ISO/IEC 29192-6), a
 * MAC for 32-bit arithmetic whose block is exactly one UUID. It is keyed, so an attacker without the key cannot
 * choose ids that collide, fall into one page or are false positives. The message is
 * - for a UUID its 16 bytes, a complete block (subkey K1), independent of its case;
 * - for anything else its ASCII, always ended as an incomplete block (subkey K2) by a byte 01 and zeros.
 * So no string can equal a UUID. The values are stored in pages and must never change: see
 * `conformance/vectors/membership-hash.ts`.
 */
const ROUNDS = 12
const BLOCK_WORDS = 4
const BLOCK_BYTES = 16
const K1 = 4
const K2 = 8

export const HASH_KEY_BYTES = 16

/** The key and its two subkeys, four words each. */
export type HashKey = Int32Array & { readonly brand: 'HashKey' }

export function hashKey(bytes: Uint8Array): HashKey {
  if (bytes.length !== HASH_KEY_BYTES) {
    throw new CatracaError('INTERNAL', `A membership key has ${HASH_KEY_BYTES} bytes, not ${bytes.length}`)
  }
  // Chaskey maps zero to zero, and an all-zero key means that it was never set.
  if (bytes.every((byte) => byte === 0))
    throw new CatracaError('INTERNAL', 'A membership key is not all zero')
  const words = new Int32Array(3 * BLOCK_WORDS)
  for (let i = 0; i < HASH_KEY_BYTES; i++) words[i >> 2]! |= bytes[i]! << ((i & 3) << 3)
  double(words, 0, K1)
  double(words, K1, K2)
  return words as HashKey
}

/** Multiplies a block by x in GF(2^128), as Chaskey and CMAC derive their subkeys. */
function double(words: Int32Array, from: number, to: number): void {
  for (let i = 3; i > 0; i--) words[to + i] = (words[from + i]! << 1) | (words[from + i - 1]! >>> 31)
  words[to] = (words[from]! << 1) ^ (words[from + 3]! < 0 ? 0x87 : 0)
}

/** A hexadecimal digit by its character code. NOT_HEX survives every shift in `group`. */
const NOT_HEX = 0x10000
const HEX = new Int32Array(65536).fill(NOT_HEX)
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16)
  HEX[digit.charCodeAt(0)] = i
  HEX[digit.toUpperCase().charCodeAt(0)] = i
}
const HYPHEN = 0x2d

/** Two bytes from four characters, the first byte lowest. */
function group(id: string, at: number): number {
  return (
    (HEX[id.charCodeAt(at)]! << 4) |
    HEX[id.charCodeAt(at + 1)]! |
    (HEX[id.charCodeAt(at + 2)]! << 12) |
    (HEX[id.charCodeAt(at + 3)]! << 8)
  )
}

/**
 * The customer being checked: set once, hashed once per list, compared exactly with the overlay. Reusable, so that
 * a check allocates nothing.
 */
export class CustomerProbe {
  /** The message in blocks of four little-endian words, padding included. */
  readonly words = new Int32Array(MAX_CUSTOMER_KEY_LENGTH / 4 + BLOCK_WORDS)
  /** Number of words used; a multiple of four. */
  wordCount = 0
  isUuid = false
  /** The hash, as signed words. */
  hi = 0
  lo = 0

  /** Sets an identifier in any spelling. */
  setId(id: string): void {
    if (id.length === 36 && this.setUuid(id)) return
    const length = id.length
    this.openString(length)
    const { words } = this
    let seen = 0
    for (let i = 0; i < length; i++) {
      const code = id.charCodeAt(i)
      seen |= code
      words[i >> 2]! |= code << ((i & 3) << 3)
    }
    if (seen > 0x7f) throw new CatracaError('INTERNAL', 'An identifier holds characters outside ASCII')
  }

  /** Sets a key encoded as in `customer-key.ts`. */
  setKey(bytes: Uint8Array, start: number, end: number): void {
    if (bytes[start] === UUID_TAG && end - start === UUID_KEY_LENGTH) {
      const { words } = this
      for (let word = 0, at = start + 1; word < BLOCK_WORDS; word++, at += 4) {
        words[word] = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      }
      this.wordCount = BLOCK_WORDS
      this.isUuid = true
      return
    }
    this.openString(end - start)
    for (let i = 0; start + i < end; i++) this.words[i >> 2]! |= bytes[start + i]! << ((i & 3) << 3)
  }

  /** Sets 36 characters if they are a UUID, in any case. False if they are not; nothing is set then. */
  setUuid(id: string): boolean {
    const bad =
      (id.charCodeAt(8) ^ HYPHEN) |
      (id.charCodeAt(13) ^ HYPHEN) |
      (id.charCodeAt(18) ^ HYPHEN) |
      (id.charCodeAt(23) ^ HYPHEN)
    if (bad !== 0) return false
    const a = group(id, 0)
    const b = group(id, 4)
    const c = group(id, 9)
    const d = group(id, 14)
    const e = group(id, 19)
    const f = group(id, 24)
    const g = group(id, 28)
    const h = group(id, 32)
    if ((a | b | c | d | e | f | g | h) >>> 16 !== 0) return false
    const { words } = this
    words[0] = a | (b << 16)
    words[1] = c | (d << 16)
    words[2] = e | (f << 16)
    words[3] = g | (h << 16)
    this.wordCount = BLOCK_WORDS
    this.isUuid = true
    return true
  }

  private openString(length: number): void {
    if (length > MAX_CUSTOMER_KEY_LENGTH) {
      throw new CatracaError('INTERNAL', `An identifier has at most ${MAX_CUSTOMER_KEY_LENGTH} characters`)
    }
    const { words } = this
    const wordCount = ((length / BLOCK_BYTES) | 0) * BLOCK_WORDS + BLOCK_WORDS
    for (let i = 0; i < wordCount; i++) words[i] = 0
    words[length >> 2] = 1 << ((length & 3) << 3)
    this.wordCount = wordCount
    this.isUuid = false
  }

  /** Stores the hash under this key in `hi` and `lo`. */
  hash(key: HashKey): void {
    const { words } = this
    const last = this.wordCount - BLOCK_WORDS
    const subkey = this.isUuid ? K1 : K2
    let v0 = key[0]!
    let v1 = key[1]!
    let v2 = key[2]!
    let v3 = key[3]!
    for (let at = 0; at <= last; at += BLOCK_WORDS) {
      v0 ^= words[at]!
      v1 ^= words[at + 1]!
      v2 ^= words[at + 2]!
      v3 ^= words[at + 3]!
      if (at === last) {
        v0 ^= key[subkey]!
        v1 ^= key[subkey + 1]!
        v2 ^= key[subkey + 2]!
        v3 ^= key[subkey + 3]!
      }
      for (let round = 0; round < ROUNDS; round++) {
        v0 = (v0 + v1) | 0
        v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
        v0 = (v0 << 16) | (v0 >>> 16)
        v2 = (v2 + v3) | 0
        v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
        v0 = (v0 + v3) | 0
        v3 = ((v3 << 13) | (v3 >>> 19)) ^ v0
        v2 = (v2 + v1) | 0
        v1 = ((v1 << 7) | (v1 >>> 25)) ^ v2
        v2 = (v2 << 16) | (v2 >>> 16)
      }
    }
    this.hi = v0 ^ key[subkey]!
    this.lo = v1 ^ key[subkey + 1]!
  }
}

/** The hash of the empty id, four bytes. Pages store it to identify their key without revealing it. */
export function keyCheck(key: HashKey): number {
  const probe = new CustomerProbe()
  probe.setId('')
  probe.hash(key)
  return probe.lo >>> 0
}
