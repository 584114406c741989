import type { OperationReach } from './reach.js'
import type { OperationScope } from './scope.js'
import type { Static, TObject, TProperties, TSchema } from './typebox.js'

export interface OperationRules {
  /** Keys with `admin` may call it too: it reads or deletes records that callers with the scope have made. */
  orAdmin?: boolean
  /** Also answered while the server stops, and, on a server without keys, to callers of other machines. */
  always?: boolean
  /** For operators who watch an outage: the last known API keys are accepted for longer. */
  operating?: boolean
  /** The body may hold what we do not read, such as integers that JavaScript rounds. */
  isLiberal?: boolean
  /** The change is recorded in the audit trail with its caller. True for every admin operation. */
  audited?: boolean
}

/** An answer with a JSON body, one that is a stream of some media type, or one without a body. */
export type Answer =
  | readonly [description: string, schema: TSchema]
  | readonly [description: string, mediaTypes: readonly string[]]
  | string

/**
 * One operation of the HTTP API. The server registers and validates its route by it, and the OpenAPI document and the
 * client come from it.
 */
export interface Operation {
  /** Method and path. */
  readonly route: string
  readonly summary: string
  readonly scope: OperationScope
  readonly rules?: OperationRules
  /** For callers whose roles are limited to some lists or resources. Absent: it is closed to them. */
  readonly reach?: OperationReach
  readonly params?: TProperties
  readonly query?: TProperties
  readonly headers?: TProperties
  readonly body?: TSchema
  /** A request without a body counts as one with an empty object. */
  readonly bodyMayBeAbsent?: true
  /** The body may be larger than those of most operations. */
  readonly hasLargeBody?: true
  /**
   * Services call it for each of their own requests, so the server answers it without the framework where it can. Its
   * handler uses no more of a request and a reply than `server/direct/call.ts` has, and it has no query except lists.
   */
  readonly isHot?: true
  /** The body is a stream of one of these media types. */
  readonly consumes?: readonly string[]
  /** By status. The first one is the status of an answer whose handler sets none. */
  readonly answers: Readonly<Record<number, Answer>>
}

/** Whether the audit trail records the caller of an operation. */
export function isAudited(method: string, scope: OperationScope | undefined, audited?: boolean): boolean {
  if (audited !== undefined) return audited
  return !READING.includes(method) && (scope === 'admin' || scope === 'tokens:revoke')
}

const READING = ['GET', 'HEAD', 'OPTIONS']

export type Operations = Readonly<Record<string, Operation & { readonly tag: string }>>

/** Operations by their id, under one heading of the documentation. */
export function operations<const Group extends Readonly<Record<string, Operation>>>(
  tag: string,
  group: Group,
) {
  const tagged = Object.entries(group).map(([id, operation]) => [id, { tag, ...operation }])
  return Object.fromEntries(tagged) as { readonly [Id in keyof Group]: Group[Id] & { readonly tag: string } }
}

type StaticFields<Fields> = Fields extends TProperties ? Static<TObject<Fields>> : unknown

/** The types of the parts of a request. */
export type ParamsOf<O> = O extends { readonly params: infer Fields } ? StaticFields<Fields> : unknown
export type QueryOf<O> = O extends { readonly query: infer Fields } ? StaticFields<Fields> : unknown
export type HeadersOf<O> = O extends { readonly headers: infer Fields } ? StaticFields<Fields> : unknown
export type BodyOf<O> = O extends { readonly body: infer Body extends TSchema } ? Static<Body> : unknown

/** The type of an answer, with the types that stand for a stream and for no body. */
export type AnswerType<A, Stream, None> = A extends string
  ? None
  : A extends readonly [string, readonly string[]]
    ? Stream
    : A extends readonly [string, infer Schema extends TSchema]
      ? Static<Schema>
      : never
