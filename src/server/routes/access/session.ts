import { version } from '../../../core/version.js'
import { SCOPES } from '../../../guards/access/scopes.js'
import { SESSION } from '../../../wire/access.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

/** Returns the caller and its scopes, so that the console can show what the caller may do. */
export function sessionRoutes(app: App, context: ServerContext): void {
  const { catraca, gate, registry } = context
  addRoutes(app, context, SESSION, {
    getSession: (request) => {
      const principal = gate.principal(request.raw)
      const scopes = registry.keyed ? [...(principal?.scopes ?? [])] : [...SCOPES]
      const store = scopes.includes('read') ? { store: catraca.store } : {}
      return { name: principal?.name ?? null, scopes, keysRequired: registry.keyed, version, ...store }
    },
  })
}
