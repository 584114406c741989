/**
 * The binary form of a customer id, the same in every engine and file. A UUID is one tag byte and its 16 bytes;
 * any other id is its ASCII. Identifiers contain no byte below `+`, so the two forms never collide, and no
 * terminator byte (0x00) can occur. Keys sort by bytes: UUIDs by value first, then strings.
 */
export const UUID_TAG = 0x01
export const UUID_KEY_LENGTH = 17
export const MAX_CUSTOMER_KEY_LENGTH = 256

const HEX_VALUE = new Int8Array(256).fill(-1)
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16)
  HEX_VALUE[digit.charCodeAt(0)] = i
  HEX_VALUE[digit.toUpperCase().charCodeAt(0)] = i
}
const HEX_PAIR = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))
/** Where each of the 16 bytes begins in the 36 characters. */
const UUID_POSITION = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const HYPHEN = 0x2d

/** The characters that an identifier may contain, by code. */
const ALLOWED = new Uint8Array(256)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@+=-') {
  ALLOWED[character.charCodeAt(0)] = 1
}

/** Writes the key of a valid identifier. Returns the offset after it. */
export function writeCustomerKey(id: string, target: Uint8Array, offset: number): number {
  if (id.length === 36 && id.charCodeAt(8) === HYPHEN && writeUuid(id, target, offset)) {
    return offset + UUID_KEY_LENGTH
  }
  for (let i = 0; i < id.length; i++) target[offset + i] = id.charCodeAt(i)
  return offset + id.length
}

function writeUuid(id: string, target: Uint8Array, offset: number): boolean {
  if (id.charCodeAt(13) !== HYPHEN || id.charCodeAt(18) !== HYPHEN || id.charCodeAt(23) !== HYPHEN)
    return false
  target[offset] = UUID_TAG
  for (let i = 0; i < 16; i++) {
    const position = UUID_POSITION[i]!
    // Codes above 255 index past the table and give undefined, which `|` turns into 0. Hence the explicit test.
    const high = id.charCodeAt(position)
    const low = id.charCodeAt(position + 1)
    if (high > 255 || low > 255) return false
    const byte = (HEX_VALUE[high]! << 4) | HEX_VALUE[low]!
    if (byte < 0) return false
    target[offset + 1 + i] = byte
  }
  return true
}

/**
 * Writes the key of an identifier given as bytes of a file, without creating a string. Returns the offset after
 * the key, or -1 if the bytes are not an identifier.
 */
export function writeCustomerKeyFromBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  offset: number,
): number {
  const length = end - start
  if (length === 36 && source[start + 8] === HYPHEN && writeUuidFromBytes(source, start, target, offset)) {
    return offset + UUID_KEY_LENGTH
  }
  if (length < 1 || length > MAX_CUSTOMER_KEY_LENGTH) return -1
  if (source[start] === 0x2e && (length === 1 || (length === 2 && source[start + 1] === 0x2e))) return -1
  for (let i = 0; i < length; i++) {
    const byte = source[start + i]!
    if (ALLOWED[byte] === 0) return -1
    target[offset + i] = byte
  }
  return offset + length
}

function writeUuidFromBytes(source: Uint8Array, start: number, target: Uint8Array, offset: number): boolean {
  if (source[start + 13] !== HYPHEN || source[start + 18] !== HYPHEN || source[start + 23] !== HYPHEN)
    return false
  target[offset] = UUID_TAG
  for (let i = 0; i < 16; i++) {
    const position = start + UUID_POSITION[i]!
    const byte = (HEX_VALUE[source[position]!]! << 4) | HEX_VALUE[source[position + 1]!]!
    if (byte < 0) return false
    target[offset + 1 + i] = byte
  }
  return true
}

/** The identifier of a key, in canonical spelling. */
export function readCustomerKey(source: Uint8Array, start: number, end: number): string {
  if (source[start] !== UUID_TAG) {
    let id = ''
    for (let i = start; i < end; i++) id += String.fromCharCode(source[i]!)
    return id
  }
  const hex = (from: number, to: number): string => {
    let text = ''
    for (let i = from; i < to; i++) text += HEX_PAIR[source[start + 1 + i]!]
    return text
  }
  return `${hex(0, 4)}-${hex(4, 6)}-${hex(6, 8)}-${hex(8, 10)}-${hex(10, 16)}`
}

/** Compares two keys, which may be in different buffers. */
export function compareKeys(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart)
  for (let i = 0; i < shared; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!
    if (difference !== 0) return difference
  }
  return aEnd - aStart - (bEnd - bStart)
}
