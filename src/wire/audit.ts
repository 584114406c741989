import { AUDIT_ACTIONS } from '../guards/audit/types.js'
import { byName, iso8601, page, pageOf } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const actor = Type.Object({
  kind: Type.String({ description: 'key, person, anonymous, cli or library' }),
  name: Type.String(),
  id: Type.Optional(
    Type.String({ description: 'Of a key, as `GET /keys` shows it; of a person, as the provider calls it' }),
  ),
})

const target = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  customerId: Type.Optional(Type.String()),
  entity: Type.Optional(Type.String()),
  level: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String()),
})

const AuditEntry = Type.Object({
  id: Type.String(),
  at: iso8601,
  actor,
  action: Type.String(),
  target,
  before: Type.Optional(Type.Unknown({ description: 'The changed fields, before the change' })),
  after: Type.Optional(Type.Unknown({ description: 'The same fields, after the change' })),
  reason: Type.Optional(Type.String({ description: 'Why, as the caller said' })),
  outcome: Type.Optional(
    Type.String({
      description:
        '`unknown`: it is not known whether the change was made. `partial`: it stopped before the end. Absent: it was made',
    }),
  ),
  requestId: Type.Optional(Type.String()),
  requestIdFrom: Type.Optional(
    Type.String({
      description: '`caller`: the caller chose the request id. Absent: the server generated it',
    }),
  ),
  detail: Type.Optional(byName(Type.Unknown())),
  changes: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.String({ description: 'Such as `config.percentage`' }),
        before: Type.Optional(Type.Unknown()),
        after: Type.Optional(Type.Unknown()),
      }),
      { description: 'What differs between `before` and `after`, field by field' },
    ),
  ),
})

const filters = {
  target: Type.Optional(
    Type.String({ description: '`KIND:ID`, such as `allowlist:vip`; `customer:ID` for one member' }),
  ),
  actor: Type.Optional(
    Type.String({ description: 'Name of the key, the user or the program; or id of the key' }),
  ),
  search: Type.Optional(
    Type.String({
      description: 'Part of the id of the changed object, of the name of the actor, or of the reason',
    }),
  ),
  action: Type.Optional(
    Type.String({
      description: `An action, or its beginning such as \`allowlist.member\`: ${AUDIT_ACTIONS.join(', ')}`,
    }),
  ),
  from: Type.Optional(Type.String({ description: 'ISO 8601: from then on' })),
  to: Type.Optional(Type.String({ description: 'ISO 8601: before then' })),
}

export const AUDIT = operations('audit', {
  exportAudit: {
    route: 'GET /audit/export',
    summary: 'Export the changes as CSV for spreadsheets; newest first, up to 100,000',
    scope: 'admin',
    query: filters,
    answers: { 200: ['The changes, as a stream', ['text/csv']] },
  },
  listAudit: {
    route: 'GET /audit',
    summary: 'List the changes: who changed what, when, and the values before and after; newest first',
    scope: 'admin',
    reach: 'filtered',
    query: { ...filters, ...page },
    answers: {
      200: [
        'A page. If it has `nextCursor` there may be more, even if the page is short or empty',
        pageOf(AuditEntry),
      ],
    },
  },
})
