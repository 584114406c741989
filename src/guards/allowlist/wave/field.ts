import { type FieldError, isCatracaError } from '../../../core/errors.js'

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

/** Reads one value. On failure it adds to `errors`, and its result is ignored. */
export type Reader<T> = (path: string, value: unknown, errors: FieldError[]) => T | undefined

/** One field of the rule of a wave: everything that the doors and engines need to know of it. */
export interface Field<T> {
  readonly schema: JsonSchema
  readonly read: Reader<T>
  /** On the command line. `as` says how the text of the option is read. */
  readonly option: {
    readonly flags: string
    readonly as: 'id' | 'list' | 'share' | 'step' | 'time'
    readonly help: string
  }
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
  errors: FieldError[],
): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    errors.push({ path, message: 'must be an object' })
    return undefined
  }
  const fields = new Map<string, unknown>()
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(known, name)) errors.push({ path: `${path}.${name}`, message: 'is not a known field' })
    else if (field !== undefined) fields.set(name, field)
  }
  return fields
}

/** Reads each entry of an array, and leaves out those that are wrong. */
export function readArray<T>(
  path: string,
  value: unknown,
  max: number,
  errors: FieldError[],
  readEntry: Reader<T>,
): T[] | undefined {
  if (!Array.isArray(value)) errors.push({ path, message: 'must be an array' })
  else if (value.length > max) errors.push({ path, message: `must have at most ${max} entries` })
  // `Array.from` reads the holes of a sparse array too.
  else return Array.from(value, (entry, i) => readEntry(`${path}[${i}]`, entry, errors)).filter(isRead)
  return undefined
}

const isRead = <T>(value: T | undefined): value is T => value !== undefined

export const readShare: Reader<number> = (path, value, errors) => {
  // Written so that NaN fails too.
  if (typeof value === 'number' && value >= 0 && value <= 1) return withoutSign(value)
  errors.push({ path, message: 'must be a number from 0 to 1' })
  return undefined
}

export const readTime: Reader<number> = (path, value, errors) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME_MS)
    return withoutSign(value as number)
  errors.push({ path, message: `must be a whole number of epoch milliseconds from 0 to ${MAX_TIME_MS}` })
  return undefined
}

/** -0 would come back from a store as 0. */
const withoutSign = (value: number): number => (value === 0 ? 0 : value)

/** Reads with a function that throws INVALID_INPUT. */
export function readBy<T>(read: (path: string, value: unknown) => T): Reader<T> {
  return (path, value, errors) => {
    try {
      return read(path, value)
    } catch (error) {
      if (!isCatracaError(error, 'INVALID_INPUT')) throw error
      errors.push(...(error.errors ?? []))
      return undefined
    }
  }
}
