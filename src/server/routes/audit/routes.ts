import { Readable } from 'node:stream'
import type { Limits } from '../../../guards/access/grants.js'
import { AUDIT } from '../../../wire/audit.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'
import { started } from '../allowlist/export.js'
import { visiblePage } from '../visible-page.js'

/** The changes that somebody with limited roles may see. A change of a limit names its resource. */
const KINDS: Readonly<Record<string, keyof Limits>> = { allowlist: 'lists', limit: 'resources' }

/** Reads the audit trail; no route changes it. */
export function auditRoutes(app: App, context: ServerContext): void {
  const { audit } = context.catraca
  addRoutes(app, context, AUDIT, {
    exportAudit: async ({ query }, reply) => {
      const body = await started(audit.export(query))
      reply.header('content-type', 'text/csv; charset=utf-8')
      reply.header('content-disposition', 'attachment; filename="audit.csv"')
      return reply.send(Readable.from(body, { objectMode: false }))
    },
    listAudit: ({ query, raw }) => {
      const reach = context.gate.reach(raw, 'admin')
      if (reach === undefined) return audit.list(query)
      return visiblePage(
        context,
        query,
        (page) => audit.list(page),
        ({ target: { kind, id } }) => {
          const reached = KINDS[kind]
          return reached !== undefined && reach.covers(reached, id)
        },
      )
    },
  })
}
