import { isCatracaError } from '../../../core/errors.js'

/** The form of a value, for the server and its OpenAPI page. `Field.read` checks the value itself. */
export interface JsonSchema {
  readonly type: 'number' | 'string' | 'array' | 'object'
  readonly description?: string
  readonly enum?: readonly string[]
  readonly items?: JsonSchema
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: false
}

/** Notes what is wrong. */
export type Fail = (path: string, message: string) => undefined

/** Reads one value, or fails. */
export type Reader<T> = (path: string, value: unknown, fail: Fail) => T | undefined

/** One field of the rule of a wave: everything that the server, the command line and the engines need to know of it. */
export interface Field<T> {
  readonly schema: JsonSchema
  readonly read: Reader<T>
  /** On the command line. `as` says how its text is read. */
  readonly option: readonly [flags: string, as: 'id' | 'list' | 'share' | 'step' | 'time', help: string]
  /** For a line that people read. */
  describe(value: T): string[]
}

export type FieldsOf<T> = { readonly [Name in keyof T]-?: Field<NonNullable<T[Name]>> }

/** The last millisecond that a `Date` can hold. */
const MAX_TIME_MS = 8.64e15

/** The own fields of an object, each read once. A field that is `undefined` counts as absent. */
export function readFields(
  path: string,
  value: unknown,
  known: object,
  fail: Fail,
): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail(path, 'must be an object')
  const fields = new Map<string, unknown>()
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(known, name)) fail(`${path}.${name}`, 'is not a known field')
    else if (field !== undefined) fields.set(name, field)
  }
  return fields
}

/** Reads each entry of an array, and leaves out those that are wrong. */
export function readArray<T>(
  path: string,
  value: unknown,
  max: number,
  fail: Fail,
  readEntry: Reader<T>,
): T[] | undefined {
  if (!Array.isArray(value)) return fail(path, 'must be an array')
  if (value.length > max) return fail(path, `must have at most ${max} entries`)
  // `Array.from` reads the holes of a sparse array too.
  const read = Array.from(value, (entry, i) => readEntry(`${path}[${i}]`, entry, fail))
  return read.filter((entry) => entry !== undefined)
}

export const readShare: Reader<number> = (path, value, fail) =>
  isFrom0To(1, value) ? withoutSign(value) : fail(path, 'must be a number from 0 to 1')

export const readTime: Reader<number> = (path, value, fail) =>
  Number.isSafeInteger(value) && isFrom0To(MAX_TIME_MS, value)
    ? withoutSign(value)
    : fail(path, `must be a whole number of epoch milliseconds from 0 to ${MAX_TIME_MS}`)

/** Written so that NaN fails too. */
const isFrom0To = (max: number, value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= max

/** -0 would come back from a store as 0. */
const withoutSign = (value: number): number => (value === 0 ? 0 : value)

/** Reads with a function that throws INVALID_INPUT. */
export function readBy<T>(read: (path: string, value: unknown) => T): Reader<T> {
  return (path, value, fail) => {
    try {
      return read(path, value)
    } catch (error) {
      if (!isCatracaError(error, 'INVALID_INPUT')) throw error
      for (const wrong of error.errors ?? []) fail(wrong.path, wrong.message)
      return undefined
    }
  }
}
