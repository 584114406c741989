import type { FastifyRequest } from 'fastify'
import { invalid } from '../../core/errors.js'
import type { ActorContext } from '../../guards/audit/actors.js'
import { parseReason } from '../../guards/audit/reason.js'
import { REASON_HEADER } from '../../wire/common.js'
import { isAudited } from '../../wire/operation.js'
import type { ServerContext } from './context.js'
import type { App } from './instance.js'
import { isCallersId } from './request-id.js'

/**
 * Gives the audit trail the caller of a request, on routes whose changes are recorded. Other routes are the hot path
 * and must not pay for it.
 */
export function recordActors(app: App, context: ServerContext): void {
  app.addHook('onRoute', (route) => {
    const { scope, audited } = route.config ?? {}
    if (![route.method].flat().some((method) => isAudited(method, scope, audited))) return
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
      : ({
          kind: principal.person === undefined ? 'key' : 'person',
          name: principal.name,
          id: principal.id,
        } as const)
  const requestId = request.id
  const reason = reasonOf(request)
  return {
    ...{ actor, requestId },
    ...(reason !== undefined && { reason }),
    ...(isCallersId(requestId) && { requestIdFrom: 'caller' as const }),
  }
}

/** Why the change is made. Headers hold only ASCII, so the text comes percent-encoded. */
function reasonOf({ headers }: FastifyRequest): string | undefined {
  const given = headers[REASON_HEADER]
  if (given === undefined) return undefined
  let text: string
  try {
    text = decodeURIComponent(String(given))
  } catch {
    throw invalid(REASON_HEADER, 'must be percent-encoded UTF-8')
  }
  return parseReason(REASON_HEADER, text)
}
