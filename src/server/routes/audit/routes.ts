import type { AuditPage } from '../../../guards/audit/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { pageOf } from '../allowlist/schemas.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

/** Reads the audit trail; no route changes it. */
export function auditRoutes(app: App, { catraca: { audit } }: ServerContext): void {
  app.get(
    '/audit',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['audit'],
        operationId: 'listAudit',
        summary: 'List the changes: who changed what, when, and the values before and after; newest first',
        querystring: schemas.auditQuery,
        response: answers({
          200: {
            description:
              'A page. If it has `nextCursor` there may be more, even if the page is short or empty',
            schema: pageOf(schemas.auditEntry),
          },
        }),
      },
    },
    (request): Promise<AuditPage> => audit.list(request.query),
  )
}
