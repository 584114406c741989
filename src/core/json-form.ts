/** What is left of a value of this type when it was written as JSON and read again: a Date is a text, methods are gone. */
export type JsonForm<T> = unknown extends T
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: work that returns nothing is replayed as nothing.
    T extends Json | undefined | void
    ? T
    : T extends { toJSON(...args: never): infer Written }
      ? JsonForm<Written>
      : T extends bigint | symbol | ((...args: never) => unknown)
        ? never
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | ArrayBuffer | ArrayBufferView
          ? Record<string, unknown>
          : T extends readonly unknown[]
            ? number extends T['length']
              ? JsonForms<T[number]>
              : { [I in keyof T]: JsonForm<T[I]> }
            : { [K in keyof T as Written<K, T[K]>]: JsonForm<T[K]> }

/** An interface, because types that contain themselves in an array would be expanded without end. */
interface JsonForms<T> extends Array<JsonForm<T>> {}

/** Also what ends the recursion for types like this one. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined }

/** JSON leaves out names that are symbols, and fields that are functions. */
type Written<K, Value> = K extends symbol ? never : Value extends (...args: never) => unknown ? never : K

/** True if JSON keeps values of this type as they are. */
export type IsJson<T> = [T] extends [JsonForm<T>] ? ([JsonForm<T>] extends [T] ? true : false) : false
