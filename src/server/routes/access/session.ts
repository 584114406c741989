import { version } from '../../../core/version.js'
import { SCOPES } from '../../../guards/access/scopes.js'
import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { oneOf } from '../allowlist/schemas.js'
import { answers } from '../responses.js'

const session = Type.Object(
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
  { additionalProperties: false },
)

/** Returns the caller and its scopes, so that the console can show what the caller may do. */
export function sessionRoutes(app: App, { catraca, gate, registry }: ServerContext): void {
  app.get(
    '/session',
    {
      config: { scope: 'any' },
      schema: {
        tags: ['operations'],
        operationId: 'getSession',
        summary: 'Who is calling, and what they may do',
        response: answers({ 200: { description: 'The caller', schema: session } }),
      },
    },
    async (request) => {
      const principal = gate.principal(request.raw)
      const scopes = registry.keyed ? [...(principal?.scopes ?? [])] : [...SCOPES]
      const store = scopes.includes('read') ? { store: catraca.store } : {}
      return { name: principal?.name ?? null, scopes, keysRequired: registry.keyed, version, ...store }
    },
  )
}
