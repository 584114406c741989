import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { CatracaError, invalid } from '../../../core/errors.js'

/** Typed values of DynamoDB, written and read by hand: a general marshaller costs more than a small read. */
export type Attribute = AttributeValue
export type Item = Record<string, Attribute>

export const text = (value: string): Attribute => ({ S: value })
export const number = (value: number | bigint): Attribute => ({ N: String(value) })
export const bytes = (value: Uint8Array): Attribute => ({ B: value })
export const flag = (value: boolean): Attribute => ({ BOOL: value })

export function optionalText(item: Item, name: string): string | undefined {
  return item[name] === undefined ? undefined : textOf(item, name)
}

export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? unreadable(item, name, 'a string')
}

export function optionalNumber(item: Item, name: string): number | undefined {
  return item[name] === undefined ? undefined : numberOf(item, name)
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N ?? unreadable(item, name, 'a number'))
}

/** For numbers past 2^53, such as stream sequence numbers. */
export function bigintOf(item: Item, name: string): bigint {
  const digits = item[name]?.N ?? ''
  return /^-?\d+$/.test(digits) ? BigInt(digits) : unreadable(item, name, 'a whole number')
}

export function optionalBytes(item: Item, name: string): Uint8Array | undefined {
  return item[name] === undefined ? undefined : bytesOf(item, name)
}

export function bytesOf(item: Item, name: string): Uint8Array {
  return item[name]?.B ?? unreadable(item, name, 'binary')
}

/** Absent counts as false: flags are written only when they are set. */
export function flagOf(item: Item, name: string): boolean {
  if (item[name] === undefined) return false
  return item[name].BOOL ?? unreadable(item, name, 'a boolean')
}

export function optionalJson(item: Item, name: string): unknown {
  const value = item[name]
  return value === undefined ? undefined : toJson(value)
}

/** Converts any JSON value. `path` names it in the error if DynamoDB cannot store it. */
export function fromJson(value: unknown, path: string): Attribute {
  if (value === null) return { NULL: true }
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'boolean':
      return { BOOL: value }
    case 'number':
      return { N: storableNumber(value, path) }
    case 'object':
      return Array.isArray(value)
        ? { L: value.map((entry, i) => fromJson(entry, `${path}[${i}]`)) }
        : { M: mapFromJson(value as object, path) }
    default:
      throw invalid(path, 'is not JSON')
  }
}

function mapFromJson(value: object, path: string): Item {
  const known = Object.entries(value).filter(([, entry]) => entry !== undefined)
  // fromEntries defines properties, so that a key named __proto__ stays a key.
  return Object.fromEntries(known.map(([name, entry]) => [name, fromJson(entry, `${path}.${name}`)]))
}

export function toJson(value: Attribute): unknown {
  if (value.S !== undefined) return value.S
  if (value.N !== undefined) return Number(value.N)
  if (value.BOOL !== undefined) return value.BOOL
  if (value.NULL !== undefined) return null
  if (value.L !== undefined) return value.L.map(toJson)
  if (value.M !== undefined) {
    return Object.fromEntries(Object.entries(value.M).map(([name, entry]) => [name, toJson(entry)]))
  }
  // Other programs may use sets and binary, which JSON does not have.
  if (value.SS !== undefined) return [...value.SS]
  if (value.NS !== undefined) return value.NS.map(Number)
  if (value.B !== undefined) return Buffer.from(value.B).toString('base64')
  if (value.BS !== undefined) return value.BS.map((entry) => Buffer.from(entry).toString('base64'))
  throw new CatracaError('STORE_CORRUPT', 'an attribute has a type that this version does not know')
}

const SMALLEST = 1e-130
const LARGEST = 9.99e125

function storableNumber(value: number, path: string): string {
  const size = Math.abs(value)
  const fits = size === 0 || (size >= SMALLEST && size <= LARGEST)
  if (!fits) throw invalid(path, 'is a number that DynamoDB cannot hold')
  return String(value)
}

/** The message names the attribute and the kind of item, never a value, which may be personal. */
function unreadable(item: Item, name: string, wanted: string): never {
  const kind = item.SK?.S?.split('#')[0]
  const where = kind === undefined ? 'an item' : `an item of kind ${kind}`
  throw new CatracaError('STORE_CORRUPT', `${where} has no ${name} that is ${wanted}`)
}
