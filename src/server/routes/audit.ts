import type { AuditPage } from '../../audit/types.js'
import * as schemas from '../audit-schemas.js'
import type { App, ServerContext } from '../context.js'
import { pageOf } from '../schemas.js'
import { answers } from './responses.js'

/** The audit trail is read here and changed nowhere. */
export function auditRoutes(app: App, { catraca: { audit } }: ServerContext): void {
  app.get(
    '/audit',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['audit'],
        operationId: 'listAudit',
        summary: 'Who changed what, when, from what to what: the newest first',
        querystring: schemas.auditQuery,
        response: answers({
          200: {
            description: 'A page; one that is short, or empty, and has `nextCursor` is not the last',
            schema: pageOf(schemas.auditEntry),
          },
        }),
      },
    },
    (request): Promise<AuditPage> => audit.list(request.query),
  )
}
