import type { RESOURCES, WIRE } from '../wire/index.js'
import type { AnswerType, BodyOf, HeadersOf, ParamsOf, QueryOf } from '../wire/operation.js'
import type { Static } from '../wire/typebox.js'
import type { StreamBody } from './operation.js'

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
