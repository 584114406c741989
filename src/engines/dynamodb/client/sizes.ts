import type { Attribute, Item } from './attributes.js'

/** The largest item that DynamoDB accepts, including attribute names. */
export const MAX_ITEM_BYTES = 400 * 1024

/** Bytes of an item as DynamoDB counts them for capacity units and the item limit. */
export function itemBytes(item: Item): number {
  let size = 0
  for (const name in item) size += Buffer.byteLength(name) + attributeBytes(item[name]!)
  return size
}

function attributeBytes(value: Attribute): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  // A number takes about half a byte per digit plus one, and at most 21 bytes.
  if (value.N !== undefined) return Math.min(21, Math.ceil(value.N.length / 2) + 2)
  if (value.B !== undefined) return value.B.byteLength
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M)
  if (value.L !== undefined) return 3 + value.L.reduce((sum, entry) => sum + 1 + attributeBytes(entry), 0)
  if (value.SS !== undefined) return value.SS.reduce((sum, entry) => sum + Buffer.byteLength(entry), 0)
  if (value.NS !== undefined) return value.NS.length * 21
  if (value.BS !== undefined) return value.BS.reduce((sum, entry) => sum + entry.byteLength, 0)
  return 1
}

/** An upper bound of the bytes sent for an item: JSON wraps each value, and makes binary a third longer. */
export function wireBytes(item: Item): number {
  let size = 2
  for (const name in item) size += jsonBytes(name) + 2 + valueWireBytes(item[name]!)
  return size
}

const WRAPPER_BYTES = 16

function valueWireBytes(value: Attribute): number {
  if (value.S !== undefined) return WRAPPER_BYTES + jsonBytes(value.S)
  if (value.N !== undefined) return WRAPPER_BYTES + value.N.length
  if (value.B !== undefined) return WRAPPER_BYTES + base64Bytes(value.B)
  if (value.M !== undefined) return WRAPPER_BYTES + wireBytes(value.M)
  if (value.L !== undefined) return value.L.reduce((sum, entry) => sum + valueWireBytes(entry), WRAPPER_BYTES)
  const set = value.SS ?? value.NS
  if (set !== undefined) return set.reduce((sum, entry) => sum + 1 + jsonBytes(entry), WRAPPER_BYTES)
  if (value.BS !== undefined) {
    return value.BS.reduce((sum, entry) => sum + 3 + base64Bytes(entry), WRAPPER_BYTES)
  }
  return WRAPPER_BYTES
}

const jsonBytes = (value: string): number => Buffer.byteLength(JSON.stringify(value))
const base64Bytes = (value: Uint8Array): number => Math.ceil(value.byteLength / 3) * 4
