import { byName, closed, degraded, iso8601, listing, oneOf, pageOf, shortLimit } from '../common.js'
import { operations } from '../operation.js'
import { resourceInBody, resourceInPath, resourceInQuery } from '../reach.js'
import { Type } from '../typebox.js'

export const entity = Type.String({ description: 'Who is limited: a customer, a tenant, a key' })
export const resource = Type.String({ description: 'What is limited: an operation, a model, an endpoint' })
const subject = { entity, resource }
const leaseParams = { leaseId: Type.String({ description: 'As an acquire returned it' }) }

const amounts = (description: string) => byName(Type.Number(), { description })

const AcquireRequest = Type.Object(
  {
    entity,
    resource,
    consume: Type.Optional(amounts('Cost by limit; absent: 1 of each. A limit that is not named costs 0')),
    limits: Type.Optional(
      byName(Type.Unsafe<Record<string, unknown>>({ type: 'object' }), {
        description:
          'Limits for this call, in the form of a configuration; allowed by the setting `limits.inline`',
      }),
    ),
    cascade: Type.Optional(
      Type.Boolean({ description: 'Consume from the parent too; absent: as configured for the entity' }),
    ),
  },
  closed,
)

const limitStatus = Type.Object(
  {
    limit: Type.Integer({ description: 'The most that can be available' }),
    remaining: Type.Integer(),
    resetMs: Type.Integer({ description: 'Milliseconds until everything is available again' }),
  },
  closed,
)
const statuses = byName(limitStatus, { description: 'By name of the limit' })
const violation = Type.Object(
  { entity, limit: Type.String(), retryAfterMs: Type.Integer() },
  { ...closed, description: 'A limit that denies' },
)

const Acquired = Type.Object(
  {
    allowed: Type.Literal(true),
    leaseId: Type.String({ description: 'Opaque id, to adjust or give back what was consumed' }),
    limits: statuses,
    parent: Type.Optional(Type.Object({ entity, limits: statuses }, closed)),
    shadowViolations: Type.Optional(Type.Array(violation)),
    degraded,
  },
  closed,
)

const LeaseDelta = Type.Object(
  {
    delta: amounts('What to add to each cost; may be negative'),
    adjustmentId: Type.Optional(
      Type.String({ description: 'Id of the adjustment: repeated requests with the same id count once' }),
    ),
  },
  closed,
)
const LeaseChange = Type.Object(
  { applied: Type.Boolean({ description: 'False: the lease was given back before' }) },
  closed,
)

const usageQuery = {
  step: Type.Optional(oneOf(['hour', 'day'])),
  from: Type.Optional(iso8601),
  to: Type.Optional(iso8601),
}
const use = {
  limit: Type.String(),
  admitted: Type.Integer({ description: 'Cost' }),
  denied: Type.Integer({ description: 'Cost' }),
}
const usageItems = Type.Array(Type.Object({ ...use, start: iso8601 }, closed))
const ResourceUsage = Type.Object(
  {
    items: usageItems,
    entities: Type.Array(Type.Object({ entity, ...use }, closed), { description: 'The heaviest first' }),
  },
  closed,
)

const TopDenied = Type.Object(
  {
    since: Type.String({ description: 'ISO 8601: an hour ago, or when the process began' }),
    items: Type.Array(
      Type.Object(
        { entity, resource, limit: Type.String(), denied: Type.Integer({ description: 'Calls' }) },
        closed,
      ),
    ),
  },
  closed,
)

export const LIMITS = operations('limits', {
  acquire: {
    route: 'POST /limits/acquire',
    isHot: true,
    summary: 'Acquire: consume from all limits of a resource, or from none',
    scope: 'limits',
    reach: resourceInBody,
    body: AcquireRequest,
    answers: { 200: ['Allowed', Acquired] },
  },
  adjustLease: {
    route: 'POST /leases/:leaseId/adjust',
    isHot: true,
    summary: 'Adjust the cost of a lease; a bucket may go below zero',
    scope: 'limits',
    params: leaseParams,
    body: LeaseDelta,
    answers: { 200: ['Corrected', LeaseChange] },
  },
  releaseLease: {
    route: 'DELETE /leases/:leaseId',
    isHot: true,
    summary: 'Give back all that a lease consumed; a second call changes nothing',
    scope: 'limits',
    params: leaseParams,
    answers: { 204: 'Given back' },
  },
  listSubjects: {
    route: 'GET /limits',
    summary:
      'List the entities with a recorded use, and what is left of their limits. Does not block the store',
    scope: 'limits',
    rules: { orAdmin: true },
    query: {
      ...listing,
      limit: Type.Optional(Type.Integer({ description: 'At most 100' })),
      resource: Type.Optional(Type.String({ description: 'Only the use of this resource' })),
    },
    answers: {
      200: [
        'A page, in the order of the store',
        pageOf(Type.Object({ entity, resource, limits: Type.Optional(statuses) }, closed)),
      ],
    },
  },
  listDenied: {
    route: 'GET /limits/denied',
    summary: 'List the entities that this process denied most often in the last hour',
    scope: 'read',
    reach: 'filtered',
    query: {
      resource: Type.Optional(resource),
      limit: shortLimit,
    },
    answers: { 200: ['Most denied first', TopDenied] },
  },
  getResourceUsage: {
    route: 'GET /limits/usage',
    summary: 'Read the usage of a resource by hour or day, and of its heaviest entities',
    scope: 'read',
    reach: resourceInQuery,
    query: { resource, ...usageQuery },
    answers: { 200: ['Oldest first', ResourceUsage] },
  },
  getLimits: {
    route: 'GET /limits/:entity/:resource',
    summary: 'Read what is left of the limits, without consuming',
    scope: 'limits',
    reach: resourceInPath,
    params: subject,
    query: {
      limits: Type.Optional(
        Type.String({
          description: 'Limits for this call as JSON; allowed by the setting `limits.inline`',
        }),
      ),
    },
    answers: { 200: ['By limit', Type.Object({ limits: statuses }, closed)] },
  },
  resetLimits: {
    route: 'DELETE /limits/:entity/:resource',
    summary: 'Reset the limits of an entity',
    scope: 'limits',
    reach: resourceInPath,
    rules: { orAdmin: true, audited: true },
    params: subject,
    answers: { 204: 'The limits are full again' },
  },
  getUsage: {
    route: 'GET /limits/:entity/:resource/usage',
    summary: 'Read the usage of an entity by hour or day, for hours in which it was among the heaviest',
    scope: 'limits',
    reach: resourceInPath,
    params: subject,
    query: usageQuery,
    answers: { 200: ['Oldest first', Type.Object({ items: usageItems }, closed)] },
  },
})
