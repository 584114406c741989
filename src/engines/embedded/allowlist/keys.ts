import { isUuid } from '../../../core/identifiers.js'
import {
  MAX_CUSTOMER_KEY_LENGTH,
  UUID_TAG,
  writeCustomerKey,
} from '../../../guards/allowlist/customer-key.js'

/**
 * Keys of the embedded store, all binary:
 *   members   list number (4 bytes) · customer key
 *   reverse   customer key · 0x00 (strings only: UUID keys have a fixed length) · list number
 *   expiry    expiresAt (6 bytes) · list number · customer key
 *   counters  list number
 *   imports   list number · import id
 *   log       list number · sequence number (6 bytes)
 *   pages     list number · name of the page
 * A customer is given by its id or, in bulk work, by a range of packed bytes. One key object per database is reused,
 * because each call encodes its key before it returns.
 */
export class CustomerRef {
  list = 0
  time = 0
  id = ''
  bytes: Uint8Array | undefined
  start = 0
  end = 0

  of(list: number, id: string): this {
    this.list = list
    this.id = id
    this.bytes = undefined
    return this
  }

  ofBytes(list: number, bytes: Uint8Array, start: number, end: number): this {
    this.list = list
    this.bytes = bytes
    this.start = start
    this.end = end
    return this
  }

  at(time: number): this {
    this.time = time
    return this
  }
}

type Key = CustomerRef | Uint8Array

export const memberKeys = {
  writeKey(key: Key, target: Uint8Array, at: number): number {
    if (key instanceof Uint8Array) return copy(key, target, at)
    return writeCustomer(key, target, writeNumber(key.list, target, at))
  },
  readKey,
}

export const reverseKeys = {
  writeKey(key: Key, target: Uint8Array, at: number): number {
    if (key instanceof Uint8Array) return copy(key, target, at)
    let end = writeCustomer(key, target, at)
    if (target[at] !== UUID_TAG) target[end++] = 0
    return writeNumber(key.list, target, end)
  },
  readKey,
}

export const expiryKeys = {
  writeKey(key: Key, target: Uint8Array, at: number): number {
    if (key instanceof Uint8Array) return copy(key, target, at)
    const high = Math.floor(key.time / 0x100000000)
    target[at] = high >>> 8
    target[at + 1] = high & 0xff
    writeNumber(key.time % 0x100000000, target, at + 2)
    return writeCustomer(key, target, writeNumber(key.list, target, at + 6))
  },
  readKey,
}

function readKey(target: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(target, start, end)
}

function copy(key: Uint8Array, target: Uint8Array, at: number): number {
  target.set(key, at)
  return at + key.length
}

function writeCustomer(key: CustomerRef, target: Uint8Array, at: number): number {
  if (key.bytes === undefined) return writeCustomerKey(key.id, target, at)
  for (let i = key.start; i < key.end; i++) target[at++] = key.bytes[i]!
  return at
}

function writeNumber(value: number, target: Uint8Array, at: number): number {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
  return at + 4
}

export function readNumber(source: Uint8Array, at: number): number {
  return ((source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!) >>> 0
}

/** The first key after all keys that begin with this list number. */
export function listEnd(list: number): Uint8Array {
  const end = new Uint8Array(4)
  writeNumber(list + 1, end, 0)
  return end
}

export function listStart(list: number): Uint8Array {
  const start = new Uint8Array(4)
  writeNumber(list, start, 0)
  return start
}

interface Bounds {
  start: Uint8Array
  /** Not included. */
  end: Uint8Array
}

export const listBounds = (list: number): Bounds => ({ start: listStart(list), end: listEnd(list) })

const UUID_FORM = '00000000-0000-0000-0000-000000000000'

/** Where the members are whose ids begin with a prefix, in key order. UUIDs and other ids are stored apart. */
export function prefixBounds(list: number, prefix: string): Bounds[] {
  const others = { start: memberKey(list, prefix), end: after(memberKey(list, prefix)) }
  const rest = UUID_FORM.slice(prefix.length)
  // UUIDs are stored in lower case.
  if (prefix !== prefix.toLowerCase() || !isUuid(prefix + rest)) return [others]
  const last = memberKey(list, prefix + rest.replaceAll('0', 'f'))
  const uuids = { start: memberKey(list, prefix + rest), end: after(last) }
  return prefix.length === UUID_FORM.length ? [uuids] : [uuids, others]
}

/** Behind all keys that begin with this one: no byte of a key is higher. */
const after = (key: Uint8Array): Uint8Array => Uint8Array.of(...key, 0xff)

export function memberKey(list: number, customerId: string): Uint8Array {
  const key = new Uint8Array(4 + MAX_CUSTOMER_KEY_LENGTH)
  return key.subarray(0, writeCustomerKey(customerId, key, writeNumber(list, key, 0)))
}

/** The bounds of a customer's rows in `reverse`. */
export function reverseBounds(customerId: string): { start: Uint8Array; end: Uint8Array; prefix: number } {
  const buffer = new Uint8Array(MAX_CUSTOMER_KEY_LENGTH + 5)
  let length = writeCustomerKey(customerId, buffer, 0)
  if (buffer[0] !== UUID_TAG) buffer[length++] = 0
  const start = buffer.slice(0, length)
  const end = buffer.slice(0, length + 4).fill(0xff, length)
  return { start, end, prefix: length }
}

/** A key of `log`: list number · sequence number (6 bytes). */
export function logKey(list: number, sequence: number): Uint8Array {
  const key = new Uint8Array(10)
  writeNumber(list, key, 0)
  const high = Math.floor(sequence / 0x100000000)
  key[4] = high >>> 8
  key[5] = high
  writeNumber(sequence % 0x100000000, key, 6)
  return key
}

export function readSequence(key: Uint8Array): number {
  return ((key[4]! << 8) | key[5]!) * 0x100000000 + readNumber(key, 6)
}

export function importKey(list: number, importId: string): Uint8Array {
  const key = new Uint8Array(4 + importId.length)
  let at = writeNumber(list, key, 0)
  for (let i = 0; i < importId.length; i++) key[at++] = importId.charCodeAt(i)
  return key
}

/** A key of `pages` has the same form. */
export const pageKey = importKey
