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
    body: Type.Object({ name: Type.String(), scopes }, closed),
    answers: { 201: ['The key, shown only now', CreatedKey] },
  },
  listKeys: {
    route: 'GET /keys',
    summary: 'List the API keys of the store',
    scope: 'admin',
    answers: { 200: ['Without the keys themselves', pageOf(ApiKey)] },
  },
  revokeKey: {
    route: 'DELETE /keys/:name',
    summary: 'Revoke an API key',
    scope: 'admin',
    params: { name: Type.String() },
    answers: { 204: 'Revoked' },
  },
})

const Session = Type.Object(
  {
    name: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Name of the API key; null on a server without keys',
    }),
    scopes: Type.Array(oneOf(SCOPES), {
      description: 'Scopes of the key, with those that other scopes imply',
    }),
    keysRequired: Type.Boolean(),
    version: Type.String(),
    store: Type.Optional(
      Type.String({ description: 'Store URL without credentials; only for keys with the scope `read`' }),
    ),
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
