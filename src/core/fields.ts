import { invalid } from './errors.js'

/**
 * The fields that an object may have: `true`, or the fields of a nested object. The compiler requires every field
 * of the type, so that none is refused by mistake.
 */
export type Fields<T> = { readonly [Name in keyof T]-?: true | FieldsOf<NonNullable<T[Name]>> }
type FieldsOf<T> = IsShape<T> extends true ? Fields<Exclude<T, boolean>> : never

type Opaque =
  | string
  | number
  | boolean
  | bigint
  | symbol
  | ((...args: never[]) => unknown)
  | Date
  | AbortSignal
  | AsyncIterable<unknown>

/** Whether a type is an object with named fields, as opposed to values, lists, and records with arbitrary keys. */
export type IsShape<T> = [Exclude<T, boolean>] extends [object]
  ? [Extract<T, Opaque | readonly unknown[]>] extends [boolean]
    ? IsNamed<keyof Exclude<T, boolean>>
    : false
  : false
type IsNamed<Name> = [Name] extends [never] ? false : string extends Name ? false : true

/** The fields of an object that has all of them, such as the defaults of options. */
export function fieldsOf<T extends object>(whole: T): { readonly [Name in keyof T]: true } {
  return Object.fromEntries(Object.keys(whole).map((name) => [name, true])) as never
}

/** Fields in a form for fast lookup. */
export class KnownFields {
  private readonly names: readonly string[]
  private readonly inner: readonly (KnownFields | undefined)[]

  constructor(fields: object) {
    this.names = Object.keys(fields)
    this.inner = Object.values(fields).map((of) => (of === true ? undefined : new KnownFields(of)))
  }

  has(name: string): boolean {
    return this.names.includes(name)
  }

  /** Ignores values that are not objects: the code that reads them reports what is wrong. */
  check(given: unknown, path = ''): void {
    if (typeof given !== 'object' || given === null) return
    const { names, inner } = this
    next: for (const name in given) {
      // There are few names and the strings are identical, so a loop is the fastest lookup.
      for (let i = 0; i < names.length; i++) {
        if (names[i] !== name) continue
        const within = inner[i]
        if (within !== undefined) within.check((given as Record<string, unknown>)[name], `${path}${name}.`)
        continue next
      }
      throw invalid(`${path}${name}`, unknownName(name, names))
    }
  }
}

/** The message for an unknown field: suggests the nearest name, or lists all names. */
function unknownName(name: string, names: readonly string[]): string {
  const meant = nearestName(name, names)
  return meant === undefined
    ? `is unknown: there is ${names.join(', ')}`
    : `is unknown: did you mean ${meant}?`
}

/** The name that differs only in case, lacks its unit, or has the fewest typing errors. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const given = name.toLowerCase()
  let nearest: string | undefined
  let fewest = Math.max(1, Math.floor(given.length / 3)) + 1
  for (const candidate of names) {
    const right = candidate.toLowerCase()
    const mistakes = right === `${given}ms` ? 0 : mistakesBetween(given, right, fewest)
    if (mistakes < fewest) [nearest, fewest] = [candidate, mistakes]
  }
  return nearest
}

/** Number of letters omitted, inserted, changed, or swapped with a neighbour, up to `bound`. */
function mistakesBetween(one: string, other: string, bound: number): number {
  if (Math.abs(one.length - other.length) >= bound) return bound
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      if (isSwapped) least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    ;[before, last] = [last, row]
  }
  return last[other.length]!
}
