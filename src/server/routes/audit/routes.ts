import { AUDIT } from '../../../wire/audit.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

/** Reads the audit trail; no route changes it. */
export function auditRoutes(app: App, context: ServerContext): void {
  const { audit } = context.catraca
  addRoutes(app, context, AUDIT, { listAudit: ({ query }) => audit.list(query) })
}
