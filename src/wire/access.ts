import { SCOPES } from '../guards/access/scopes.js'
import { closed, isoTime, oneOf, pageOf } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const scopes = Type.Array(oneOf(SCOPES))

const ApiKey = Type.Object(
  {
    id: Type.String({ description: 'As the audit trail names it beside the name' }),
    name: Type.String(),
    scopes,
    createdAt: isoTime,
    createdBy: Type.Optional(Type.String({ description: 'The actor of the audit trail who created it' })),
    expiresAt: Type.Optional(isoTime),
    usedAt: Type.Optional(
      Type.String({
        description: 'The last use that is recorded; a later one, by up to an hour, may not be',
      }),
    ),
  },
  closed,
)
const CreatedKey = Type.Object(
  { ...ApiKey.properties, key: Type.String({ description: 'Shown only this once' }) },
  closed,
)

export const KEYS = operations('keys', {
  createKey: {
    route: 'POST /keys',
    summary: 'Create an API key; after the first one, every call needs a key',
    scope: 'admin',
    body: Type.Object({ name: Type.String(), scopes, expiresAt: Type.Optional(isoTime) }, closed),
    answers: { 201: ['The key, shown only now', CreatedKey] },
  },
  listKeys: {
    route: 'GET /keys',
    summary: 'List the API keys of the store',
    scope: 'admin',
    answers: { 200: ['Without the keys themselves', pageOf(ApiKey)] },
  },
  updateKey: {
    route: 'PATCH /keys/:name',
    summary: 'Change scopes or expiry of an API key',
    scope: 'admin',
    params: { name: Type.String() },
    body: Type.Object(
      {
        scopes: Type.Optional(scopes),
        expiresAt: Type.Optional(
          Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'ISO 8601; null: never' }),
        ),
      },
      closed,
    ),
    answers: { 200: ['The key', ApiKey] },
  },
  revokeKey: {
    route: 'DELETE /keys/:name',
    summary: 'Revoke an API key',
    scope: 'admin',
    params: { name: Type.String() },
    answers: { 204: 'Revoked' },
  },
})

const Person = Type.Object(
  {
    subject: Type.String({
      description: 'As the provider calls the person; the audit trail has it as the id',
    }),
    roles: Type.Array(Type.String()),
    signedInUntil: isoTime,
  },
  closed,
)
const patterns = Type.Array(Type.String({ description: 'A name, or the beginning of names with a `*`' }))
const Limits = Type.Object(
  { lists: patterns, resources: patterns },
  {
    ...closed,
    description: 'Present when every role is limited to some lists or resources: all that they name',
  },
)

const Session = Type.Object(
  {
    name: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Name of the API key or of the person; null on a server without keys',
    }),
    scopes: Type.Array(oneOf(SCOPES), {
      description: 'Scopes of the key or of the roles, with those that other scopes imply',
    }),
    keysRequired: Type.Boolean(),
    version: Type.String(),
    store: Type.Optional(
      Type.String({ description: 'Store URL without credentials; only for callers with the scope `read`' }),
    ),
    person: Type.Optional(Person),
    limits: Type.Optional(Limits),
  },
  closed,
)

export const SESSION = operations('operations', {
  getSession: {
    route: 'GET /session',
    summary: 'Who is calling, and what they may do',
    scope: 'any',
    answers: { 200: ['The caller', Session] },
  },
})
