import { isoTime } from '../../../core/clock.js'
import { version } from '../../../core/version.js'
import type { Principal } from '../../../guards/access/index.js'
import { SCOPES } from '../../../guards/access/scopes.js'
import { SESSION } from '../../../wire/access.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

/** Returns the caller and its scopes, so that the console can show what the caller may do. */
export function sessionRoutes(app: App, context: ServerContext): void {
  const { catraca, gate, registry } = context
  addRoutes(app, context, SESSION, {
    getSession: (request) => {
      const principal = gate.principal(request.raw)
      const scopes = registry.keyed ? [...(principal?.scopes ?? [])] : [...SCOPES]
      const isTold = scopes.includes('read') && gate.reach(request.raw, 'read') === undefined
      const store = isTold ? { store: catraca.store } : {}
      const caller = { name: principal?.name ?? null, scopes, keysRequired: registry.keyed }
      return { ...caller, version, ...store, ...personOf(principal) }
    },
  })
}

function personOf({ person, grants = [] }: Partial<Principal> = {}) {
  if (person === undefined) return {}
  const { subject, roles, endsAt } = person
  const shown = { person: { subject, roles: [...roles], signedInUntil: isoTime(endsAt) } }
  const limits = grants.map((grant) => grant.limits)
  if (limits.includes(undefined)) return shown
  const all = (kind: 'lists' | 'resources') => [...new Set(limits.flatMap((one) => one![kind]))]
  return { ...shown, limits: { lists: all('lists'), resources: all('resources') } }
}
