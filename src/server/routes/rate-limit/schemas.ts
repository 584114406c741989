import { ALGORITHMS } from '../../../guards/rate-limit/rule.js'
import type {
  EffectiveLimit,
  LimitStatus,
  Limits,
  ResolvedConfig,
  Violation,
} from '../../../guards/rate-limit/types.js'
import { Type } from '../../http/typebox.js'
import { oneOf, pageOf, pageQuery } from '../allowlist/schemas.js'

/** The shape of requests and responses for limits. The library validates the values, as for the other schemas. */
const closed = { additionalProperties: false } as const
const byName = <T>(item: object, description: string) =>
  Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: item, description })

export const entity = Type.String({ description: 'Who is limited: a customer, a tenant, a key' })
export const resource = Type.String({ description: 'What is limited: an operation, a model, an endpoint' })
export const subjectParams = Type.Object({ entity, resource }, closed)
export const resourceParams = Type.Object({ resource }, closed)
export const leaseParams = Type.Object(
  { leaseId: Type.String({ description: 'As an acquire returned it' }) },
  closed,
)
export const entityParams = Type.Object({ id: entity }, closed)
export const resolveQuery = Type.Object({ entity: Type.Optional(entity), resource }, closed)

const amounts = (description: string) =>
  Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'number' },
    description,
  })

export const acquireRequest = Type.Object(
  {
    entity,
    resource,
    consume: Type.Optional(amounts('Cost by limit; absent: 1 of each. A limit that is not named costs 0')),
    limits: Type.Optional(
      Type.Unsafe<Limits>({
        type: 'object',
        additionalProperties: { type: 'object' },
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

export const statusQuery = Type.Object(
  {
    limits: Type.Optional(
      Type.String({ description: 'Limits for this call as JSON; allowed by the setting `limits.inline`' }),
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
const statuses = byName<LimitStatus>(limitStatus, 'By name of the limit')
const parent = Type.Object({ entity, limits: statuses }, closed)
const violation = Type.Object(
  { entity, limit: Type.String(), retryAfterMs: Type.Integer() },
  { ...closed, description: 'A limit that denies' },
)

export const acquired = Type.Object(
  {
    allowed: Type.Literal(true),
    leaseId: Type.String({ description: 'Opaque id, to adjust or give back what was consumed' }),
    limits: statuses,
    parent: Type.Optional(parent),
    shadowViolations: Type.Optional(Type.Unsafe<Violation[]>({ type: 'array', items: violation })),
    degraded: Type.Optional(Type.Literal(true, { description: 'The store did not answer' })),
  },
  closed,
)

export const leaseDelta = Type.Object(
  {
    delta: amounts('What to add to each cost; may be negative'),
    adjustmentId: Type.Optional(
      Type.String({ description: 'Id of the adjustment: repeated requests with the same id count once' }),
    ),
  },
  closed,
)
export const leaseChange = Type.Object(
  { applied: Type.Boolean({ description: 'False: the lease was given back before' }) },
  closed,
)
export const limitsStatus = Type.Object({ limits: statuses }, closed)

const limit = {
  type: 'object',
  description: 'Fields that are absent are inherited',
  properties: {
    capacity: { type: 'integer' },
    burst: { type: 'integer', description: 'What a token bucket holds; at least the capacity' },
    refillAmount: { type: 'integer' },
    refillPeriodSeconds: {
      type: 'integer',
      description: 'Period of the refill, length of the window, or longest hold of a concurrency slot',
    },
    algorithm: { type: 'string', enum: ALGORITHMS },
    mode: { type: 'string', enum: ['enforce', 'shadow'] },
  },
}

const onUnavailable = oneOf(['allow', 'block'], 'When the store does not answer')

export const levelConfig = Type.Object(
  {
    limits: Type.Optional(Type.Unsafe<Limits>({ type: 'object', additionalProperties: limit })),
    onUnavailable: Type.Optional(onUnavailable),
    autoUpdate: Type.Optional(Type.Boolean({ description: 'On system only' })),
    strictVersion: Type.Optional(Type.Boolean({ description: 'On system only' })),
  },
  closed,
)

const unreadable = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    description: 'Limits that another program wrote and that cannot be used, each with the reason',
  }),
)
export const storedConfig = Type.Object({ ...levelConfig.properties, unreadable }, closed)

export const entityConfigsQuery = Type.Object(
  { ...pageQuery.properties, resource: Type.Optional(resource) },
  closed,
)

export const listedConfigs = pageOf(
  Type.Object(
    {
      level: oneOf(['system', 'resource', 'entity']),
      identifier: Type.Optional(Type.String({ description: 'The entity, on the entity level' })),
      resource,
      config: storedConfig,
    },
    closed,
  ),
)

const fieldLevel = {
  type: 'string',
  enum: ['entity', 'resource', 'system', 'entity:*', 'system:*', 'defaults'],
}
const fieldLevels = { type: 'object', additionalProperties: fieldLevel }

const cappedNumber = {
  type: 'object',
  properties: { stated: { type: 'integer' }, by: fieldLevel },
}

export const resolvedConfig = Type.Object(
  {
    entity: Type.Optional(entity),
    resource,
    limits: Type.Unsafe<Record<string, EffectiveLimit>>({ type: 'object', additionalProperties: limit }),
    onUnavailable,
    autoUpdate: Type.Boolean(),
    strictVersion: Type.Boolean(),
    levels: Type.Unsafe<ResolvedConfig['levels']>({
      type: 'object',
      description: 'Which level each field comes from',
      properties: {
        limits: { type: 'object', additionalProperties: fieldLevels },
        onUnavailable: fieldLevel,
        autoUpdate: fieldLevel,
        strictVersion: fieldLevel,
      },
    }),
    capped: Type.Optional(
      Type.Unsafe<NonNullable<ResolvedConfig['capped']>>({
        type: 'object',
        description:
          'Inherited numbers that a lower capacity caps: the stated number, and the level that caps it',
        additionalProperties: {
          type: 'object',
          properties: { burst: cappedNumber, refillAmount: cappedNumber },
        },
      }),
    ),
    unreadable,
  },
  closed,
)

export const entityRecord = Type.Object(
  { parent: Type.String(), cascade: Type.Optional(Type.Boolean({ description: 'true when absent' })) },
  closed,
)
export const storedEntity = Type.Object(
  { id: entity, parent: Type.String(), cascade: Type.Boolean() },
  closed,
)

export const usageQuery = Type.Object(
  {
    step: Type.Optional(oneOf(['hour', 'day'])),
    from: Type.Optional(Type.String({ description: 'ISO 8601' })),
    to: Type.Optional(Type.String({ description: 'ISO 8601' })),
  },
  closed,
)
export const resourceUsageQuery = Type.Object({ resource, ...usageQuery.properties }, closed)
const use = {
  limit: Type.String(),
  admitted: Type.Integer({ description: 'Cost' }),
  denied: Type.Integer({ description: 'Cost' }),
}
const usageItems = Type.Array(
  Type.Object({ ...use, start: Type.String({ description: 'ISO 8601' }) }, closed),
)
export const usage = Type.Object({ items: usageItems }, closed)
export const resourceUsage = Type.Object(
  {
    items: usageItems,
    entities: Type.Array(Type.Object({ entity, ...use }, closed), { description: 'The heaviest first' }),
  },
  closed,
)

export const deniedQuery = Type.Object(
  {
    resource: Type.Optional(resource),
    limit: Type.Optional(Type.Integer({ description: 'At most 100; 20 when absent' })),
  },
  closed,
)
export const topDenied = Type.Object(
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
