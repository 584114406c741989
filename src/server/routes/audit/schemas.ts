import { AUDIT_ACTIONS } from '../../../guards/audit/types.js'
import { Type } from '../../http/typebox.js'
import { pageQuery } from '../allowlist/schemas.js'

/** The shape of what goes over the wire about the audit trail; values are judged by the library. */
const closed = { additionalProperties: false } as const

export const auditQuery = Type.Object(
  {
    target: Type.Optional(
      Type.String({ description: '`KIND:ID`, such as `allowlist:vip`; `customer:ID` for one member' }),
    ),
    actor: Type.Optional(
      Type.String({ description: 'Name of the key, the user or the program; or id of the key' }),
    ),
    search: Type.Optional(
      Type.String({ description: 'Part of an id of what was changed, or of the name of who did it' }),
    ),
    action: Type.Optional(
      Type.String({
        description: `Or its beginning, such as \`allowlist.member\`: ${AUDIT_ACTIONS.join(', ')}`,
      }),
    ),
    from: Type.Optional(Type.String({ description: 'ISO 8601: from then on' })),
    to: Type.Optional(Type.String({ description: 'ISO 8601: before then' })),
    ...pageQuery.properties,
  },
  closed,
)

const actor = Type.Object({
  kind: Type.String({ description: 'key, anonymous, cli or library' }),
  name: Type.String(),
  id: Type.Optional(Type.String({ description: 'Of a key, as `GET /keys` shows it' })),
})

const target = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  customerId: Type.Optional(Type.String()),
  entity: Type.Optional(Type.String()),
  level: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String()),
})

export const auditEntry = Type.Object({
  id: Type.String(),
  at: Type.String({ description: 'ISO 8601' }),
  actor,
  action: Type.String(),
  target,
  before: Type.Optional(Type.Unknown({ description: 'The fields that were changed, as they were' })),
  after: Type.Optional(Type.Unknown({ description: 'The same fields as they are' })),
  outcome: Type.Optional(
    Type.String({
      description:
        '`unknown`: whether it was done is not known. `partial`: it broke off. Absent: it was done',
    }),
  ),
  requestId: Type.Optional(Type.String()),
  requestIdFrom: Type.Optional(
    Type.String({ description: '`caller`: who asked chose the request id. Absent: the server made it' }),
  ),
  detail: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})
