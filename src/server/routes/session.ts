import { Type } from 'typebox'
import { SCOPES } from '../../access/scopes.js'
import type { App, ServerContext } from '../context.js'
import * as schemas from '../schemas.js'
import { version } from '../version.js'
import { answers } from './responses.js'

const session = Type.Object(
  {
    name: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Of the key' }),
    scopes: Type.Array(schemas.oneOf(SCOPES)),
    keysRequired: Type.Boolean(),
    version: Type.String(),
    store: Type.String(),
  },
  { additionalProperties: false },
)

export function sessionRoutes(app: App, { catraca, gate, registry }: ServerContext): void {
  app.get(
    '/session',
    {
      config: { scope: 'open' },
      schema: {
        tags: ['operations'],
        operationId: 'getSession',
        summary: 'Who is calling, and what may they do?',
        response: answers({ 200: { description: 'The key and its scopes', schema: session } }),
      },
    },
    async (request) => {
      const facts = { keysRequired: registry.keyed, version, store: catraca.store }
      if (!registry.keyed) return { name: null, scopes: [...SCOPES], ...facts }
      const refusal = gate.refusal(request.raw, 'check')
      if (refusal !== undefined && refusal.code !== 'FORBIDDEN') throw refusal
      const { name, scopes } = gate.principal(request.raw)!
      return { name, scopes: [...scopes], ...facts }
    },
  )
}
