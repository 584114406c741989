import { types } from 'node:util'
import { isPlainObject } from '../../core/plain-object.js'
import type { Codec } from './codec.js'

/** Marks a value that has no JSON form: `{ "$": "date", "v": 0 }`. */
const TAG = '$'

interface Tagged {
  [TAG]: string
  v?: unknown
}

const ARRAYS = {
  ...{ Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array },
  ...{ Float32Array, Float64Array, BigInt64Array, BigUint64Array },
}

/**
 * JSON that also preserves Dates, Maps, Sets, Buffers and typed arrays, BigInt, NaN, the infinities, −0, and
 * `undefined` in arrays. Any other class is refused.
 */
export const typedJson = {
  version: 255,
  encode: (value: unknown): Uint8Array => Buffer.from(JSON.stringify(written(value))),
  decode: <T>(bytes: Uint8Array): T =>
    read(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())) as T,
} satisfies Codec<unknown>

function written(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : tagged('number', numberText(value))
    case 'bigint':
      return tagged('bigint', String(value))
    case 'undefined':
      return tagged('undefined')
    case 'object':
      return value === null ? null : writtenObject(value)
    case 'string':
    case 'boolean':
      return value
    default:
      throw new TypeError(`a ${typeof value} cannot be encoded`)
  }
}

const tagged = (kind: string, v?: unknown): Tagged => ({ [TAG]: kind, ...(v !== undefined && { v }) })
const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

function writtenObject(value: object): unknown {
  if (Array.isArray(value)) return Array.from(value, written)
  if (types.isDate(value)) return tagged('date', Number.isNaN(value.getTime()) ? null : value.getTime())
  if (types.isMap(value))
    return tagged(
      'map',
      Array.from(value, ([k, v]) => [written(k), written(v)]),
    )
  if (types.isSet(value)) return tagged('set', Array.from(value, written))
  if (types.isTypedArray(value)) return writtenBytes(value)
  if (types.isArrayBuffer(value)) return tagged('ArrayBuffer', Buffer.from(value).toString('base64'))
  if (!isPlainObject(value)) throw new TypeError(`the class ${value.constructor?.name} cannot be encoded`)
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [[name, written(member)]],
  )
  const plain = Object.fromEntries(members)
  return Object.hasOwn(plain, TAG) ? tagged('object', plain) : plain
}

function writtenBytes(value: NodeJS.TypedArray): Tagged {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  return tagged(Buffer.isBuffer(value) ? 'buffer' : value[Symbol.toStringTag], bytes)
}

function read(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(read)
  return Object.hasOwn(value, TAG) ? readTagged(value as Tagged) : readMembers(value)
}

/** Drops `__proto__`: it would become the prototype of an object that the value is copied to. */
function readMembers(value: object): object {
  const members = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(members.map(([name, member]) => [name, read(member)]))
}

function readTagged({ [TAG]: kind, v }: Tagged): unknown {
  switch (kind) {
    case 'undefined':
      return undefined
    case 'number':
      return Number(v)
    case 'bigint':
      return BigInt(v as string)
    case 'date':
      return new Date(v === null ? Number.NaN : (v as number))
    case 'map':
      return new Map((v as [unknown, unknown][]).map(([k, item]) => [read(k), read(item)]))
    case 'set':
      return new Set((v as unknown[]).map(read))
    case 'buffer':
      return Buffer.from(v as string, 'base64')
    case 'object':
      return readMembers(v as object)
    default:
      return readBytes(kind, v as string)
  }
}

function readBytes(kind: string, text: string): unknown {
  const { buffer } = Uint8Array.from(Buffer.from(text, 'base64'))
  if (kind === 'ArrayBuffer') return buffer
  if (!Object.hasOwn(ARRAYS, kind)) throw new Error(`unknown form ${kind}`)
  return new ARRAYS[kind as keyof typeof ARRAYS](buffer)
}
