import type { FastifyRequest } from 'fastify'
import type { ActorContext } from '../../guards/audit/actors.js'
import type { App, RouteScope, ServerContext } from './context.js'
import { isCallersId } from './request-id.js'

/** Routes of these scopes that change something do so by the hand of somebody. */
const ADMINISTRATION: readonly (RouteScope | undefined)[] = ['admin', 'tokens:revoke']
const READING = ['GET', 'HEAD', 'OPTIONS']

/**
 * Lets the audit trail know who asks, on the routes that change what is recorded. Only there: the calls that carry the
 * traffic must not pay for it.
 */
export function recordActors(app: App, context: ServerContext): void {
  app.addHook('onRoute', (route) => {
    const { scope, audited } = route.config ?? {}
    const reads = [route.method].flat().every((method) => READING.includes(method))
    if (audited === undefined ? reads || !ADMINISTRATION.includes(scope) : !audited) return
    const { handler } = route
    route.handler = function (request, reply) {
      return context.catraca.audit.acting(actingOf(request, context), () =>
        handler.call(this, request, reply),
      )
    }
  })
}

function actingOf(request: FastifyRequest, { gate }: ServerContext): ActorContext {
  const principal = gate.principal(request.raw)
  const actor =
    principal === undefined
      ? ({ kind: 'anonymous', name: 'anonymous' } as const)
      : ({ kind: 'key', name: principal.name, id: principal.id } as const)
  const requestId = request.id
  return isCallersId(requestId) ? { actor, requestId, requestIdFrom: 'caller' } : { actor, requestId }
}
