import { type Static, type TObject, type TProperties, type TSchema, Type } from './typebox.js'

/*
 * Schemas say the shape of requests and responses. The library validates the values (identifiers, ranges, dates), so
 * that the library and the server refuse the same input with the same messages.
 */
export const closed = { additionalProperties: false } as const

export function oneOf<const T extends readonly string[]>(values: T, description?: string) {
  return Type.Unsafe<T[number]>({
    type: 'string',
    enum: values,
    ...(description === undefined ? {} : { description }),
  })
}

/** Why a change is made. */
export const REASON_HEADER = 'catraca-reason'
export const reasonHeader = {
  [REASON_HEADER]: Type.Optional(
    Type.String({ description: 'Why: up to 500 characters as percent-encoded UTF-8, for the audit trail' }),
  ),
}

export const count = Type.Integer({ minimum: 0 })
export const isoTime = Type.String({ description: 'ISO 8601 in UTC' })
export const iso8601 = Type.String({ description: 'ISO 8601' })
export const degraded = Type.Optional(Type.Literal(true, { description: 'The store did not answer' }))

/** Of lists that have no pages. */
export const shortLimit = Type.Optional(Type.Integer({ description: 'At most 100; 20 when absent' }))

export const page = {
  limit: Type.Optional(Type.Integer({ description: 'At most 1,000; 100 when absent' })),
  cursor: Type.Optional(Type.String({ description: '`nextCursor` of the page before' })),
}

export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), nextCursor: Type.Optional(Type.String()) }, closed)
}

/** Of a listing whose pages may be short, or empty, although there is more. */
export const listing = {
  prefix: Type.Optional(Type.String({ description: 'Beginning of the name' })),
  limit: page.limit,
  cursor: Type.Optional(
    Type.String({
      description:
        '`nextCursor` of the page before. A page may be short, or empty, although it has `nextCursor`',
    }),
  ),
}
export const olderThanSeconds = Type.Optional(Type.Integer({ description: 'Only what is at least so old' }))
export const ageMs = Type.Integer({ minimum: 0, description: 'Milliseconds' })

export const yesOrNo = (description: string) => Type.Optional(oneOf(['0', '1', 'false', 'true'], description))
/** What a query says by one of these. */
export const isYes = (text: string | undefined): boolean => text === '1' || text === 'true'

/** The body of a call that changes many records, and its answer. */
export const changesOf = <T extends TSchema>(change: T) =>
  Type.Object({ changes: Type.Array(change) }, closed)
export const Changed = Type.Object({ changed: count }, closed)

/** An object with names that callers or the configuration choose. */
export const byName = <T extends TSchema>(item: T, options: object = {}) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: item, ...options })

/** Refers to a schema with an `$id`, which the OpenAPI document names. */
export const shared = <T extends TSchema & { $id?: string }>(schema: T) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })

/** An object that may have more fields than these. */
export const open = <Fields extends TProperties>(fields: Fields, options: object = {}) =>
  Type.Unsafe<Static<TObject<Fields>> & { [field: string]: unknown }>(
    Type.Object(fields, { additionalProperties: true, ...options }),
  )

export const Problem = open(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: 'One of the documented error codes' }),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed))),
    requestId: Type.Optional(Type.String()),
  },
  { $id: 'Problem', description: 'RFC 9457 problem' },
)
