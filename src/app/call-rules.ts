import { aborted, refuseAborted } from '../core/abort.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { type Fields, type IsShape, KnownFields } from '../core/fields.js'
import type { Decoration, Method } from './decorate.js'

/*
 * Three rules apply to every call of every guard, and are enforced here instead of in each guard. Unknown fields
 * are refused, with a suggestion of the right name; `fields-of-calls.ts` has the names. A method that returns a promise
 * rejects; it never throws synchronously. A call aborted by its signal rejects with ABORTED.
 */

/** A required argument, an optional one, or a list. */
type RuleOf<T> = [NonNullable<T>] extends [readonly (infer Item)[]]
  ? IsShape<Item> extends true
    ? { readonly each: Fields<Item> }
    : never
  : IsShape<NonNullable<T>> extends true
    ? undefined extends T
      ? { readonly optional: Fields<NonNullable<T>> }
      : { readonly needed: Fields<T> }
    : never

/** By position of the argument. */
type Rules<Args extends readonly unknown[]> = {
  readonly [I in keyof Args as I extends `${number}`
    ? [RuleOf<Args[I]>] extends [never]
      ? never
      : I
    : never]-?: RuleOf<Args[I]>
}

/** Every public member of a guard: each method that returns a promise with the fields of its arguments. */
export type Calls<Guard> = {
  readonly [Name in keyof Guard]-?: Guard[Name] extends (...args: infer Args) => Promise<unknown>
    ? Rules<Args> | typeof SELF_CHECKED
    : typeof PLAIN
}

/**
 * Methods so fast that a wrapper would be noticeable. The guard enforces the rules itself, and the test of these
 * rules checks that.
 */
export const SELF_CHECKED = 'by itself'

/** Members that are no calls, or that answer at once. If they take options, the guard checks the fields itself. */
export const PLAIN = 'plain'

interface Argument {
  place: number
  isNeeded: boolean
  isList: boolean
  fields: KnownFields
}

/** Enforces the rules on the calls of a guard. */
export function checked(calls: object): Decoration {
  return (name, method) => {
    const rules = (calls as Record<string, Rules<unknown[]> | typeof SELF_CHECKED | typeof PLAIN>)[name]!
    if (rules === SELF_CHECKED || rules === PLAIN) return method
    const expected = argumentsOf(rules)
    // An async function never throws synchronously.
    return expected.length > 0 || !(method instanceof AsyncFunction)
      ? checkedMethod(method, expected)
      : method
  }
}

const AsyncFunction = (async () => {}).constructor as () => void

function argumentsOf(
  rules: Record<string, { needed?: object; optional?: object; each?: object }>,
): Argument[] {
  return Object.entries(rules).map(([place, { needed, optional, each }]) => ({
    place: Number(place),
    isNeeded: needed !== undefined,
    isList: each !== undefined,
    fields: new KnownFields((needed ?? optional ?? each)!),
  }))
}

/** No method has more than four arguments. Naming them is cheaper than an array per call. */
function checkedMethod(method: Method, expected: readonly Argument[]): Method {
  const signalAt = expected.find(({ fields }) => fields.has('signal'))?.place
  return (a, b, c, d) => {
    try {
      for (let i = 0; i < expected.length; i++)
        checkArgument(expected[i]!, argumentAt(expected[i]!.place, a, b, c, d))
      const signal = signalAt === undefined ? undefined : signalOf(argumentAt(signalAt, a, b, c, d))
      if (signal === undefined) return method(a, b, c, d)
      refuseAborted(signal)
      const answer = method(a, b, c, d) as Promise<unknown>
      return answer.catch((error) => {
        throw abortedInstead(error, signal)
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

const argumentAt = (place: number, a: unknown, b: unknown, c: unknown, d: unknown): unknown =>
  place === 0 ? a : place === 1 ? b : place === 2 ? c : d

const signalOf = (given: unknown): AbortSignal | undefined =>
  (given as { signal?: AbortSignal } | null | undefined)?.signal

/** An import aborted by its caller reports its progress, like any interrupted import. */
function abortedInstead(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted) return error
  if (isCatracaError(error, 'IMPORT_INTERRUPTED')) return aborted(signal, error.facts)
  return error === signal.reason ? aborted(signal) : error
}

function checkArgument({ place, isNeeded, isList, fields }: Argument, given: unknown): void {
  if (isList) {
    if (!Array.isArray(given)) throw invalid(`arguments[${place}]`, 'must be a list')
    for (const [i, item] of given.entries()) fields.check(item, `[${i}].`)
    return
  }
  if (isNeeded && (given === undefined || given === null)) {
    throw invalid(`arguments[${place}]`, 'must be an object')
  }
  fields.check(given)
}
