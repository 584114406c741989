import type { FastifyRequest } from 'fastify'
import type { ActorContext } from '../../guards/audit/actors.js'
import type { OperationScope } from '../../wire/operation.js'
import type { App, ServerContext } from './context.js'
import { isCallersId } from './request-id.js'

/** Writing routes of these scopes are recorded with their caller. */
const ADMINISTRATION: readonly (OperationScope | undefined)[] = ['admin', 'tokens:revoke']
const READING = ['GET', 'HEAD', 'OPTIONS']

/**
 * Gives the audit trail the caller of a request, on routes whose changes are recorded. Other routes are the hot path
 * and must not pay for it.
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
