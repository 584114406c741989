import type { RESOURCES, WIRE } from '../wire/index.js'
import type { AnswerType, BodyOf, HeadersOf, ParamsOf, QueryOf } from '../wire/operation.js'
import type { Static } from '../wire/typebox.js'

/** Options of a call beside its input. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Overrides the timeout of the client; 0 waits for ever. */
  timeoutMs?: number | undefined
}

/** A body of any size. In a browser use a `Blob` or a `File`: not all browsers send streams. */
export type StreamBody = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** How an operation is sent over HTTP, from the generated table. */
export interface OperationFacts {
  method: string
  /** Path with parameters in braces. */
  path: string
  query?: readonly string[]
  /** Name in the input → name of the header. */
  headers?: Readonly<Record<string, string>>
  body?: 'json' | 'stream'
  /** JSON when absent. */
  answer?: 'none' | 'stream'
  accept?: readonly string[]
}

type Wire = typeof WIRE

export type ResourceOf<Name extends keyof typeof RESOURCES> = Static<(typeof RESOURCES)[Name]>

/** What an operation takes: the parts of its request in one object. */
export type InputOf<Id extends keyof Wire> = NoneIfEmpty<
  Flat<
    OrUndefined<ParamsOf<Wire[Id]> & QueryOf<Wire[Id]> & InCamelCase<HeadersOf<Wire[Id]>>> &
      JsonBody<Wire[Id]> &
      StreamedBody<Wire[Id]> &
      Accepted<Wire[Id]['answers']>
  >
>

/** What an operation returns when it succeeds. */
export type AnswerOf<Id extends keyof Wire> = AnswerType<
  Wire[Id]['answers'][Extract<keyof Wire[Id]['answers'], 200 | 201 | 202 | 204>],
  Response,
  undefined
>

type Flat<T> = { -readonly [Name in keyof T]: T[Name] }
type NoneIfEmpty<T> = keyof T extends never ? Record<string, never> : T
/** A field that is undefined counts as absent. */
type OrUndefined<T> = {
  [Name in keyof T]: Record<never, never> extends Pick<T, Name> ? T[Name] | undefined : T[Name]
}
type InCamelCase<T> = { [Name in keyof T as CamelCase<Name>]: T[Name] }
type CamelCase<Name> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest> & string>}`
  : Name

type JsonBody<O> = O extends { readonly body: unknown }
  ? Record<never, never> extends BodyOf<O>
    ? { body?: BodyOf<O> | undefined }
    : { body: BodyOf<O> }
  : unknown
type StreamedBody<O> = O extends { readonly consumes: readonly (infer MediaType)[] }
  ? { body: StreamBody; contentType: MediaType }
  : unknown
type Accepted<Answers> = Answers extends {
  200: readonly [string, readonly [infer One, infer Other, ...infer Rest]]
}
  ? { accept?: One | Other | Rest[number & keyof Rest] | undefined }
  : unknown
