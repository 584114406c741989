import type { SpaceStats } from '../../../guards/cache/types.js'
import { Type } from '../../http/typebox.js'

const closed = { additionalProperties: false } as const

export const entryParams = Type.Object(
  {
    space: Type.String({ description: 'A space that the configuration names, such as dict:entry:key' }),
    key: Type.String({ description: 'Within the space' }),
  },
  closed,
)

const value = Type.Unknown({ description: 'Any JSON. null only with a lease: the source has no value' })

export const cached = Type.Object(
  {
    value,
    ageMs: Type.Integer({ description: 'Milliseconds since it was stored; on Redis an upper bound' }),
    stale: Type.Optional(Type.Literal(true, { description: 'Older than its TTL' })),
    degraded: Type.Optional(Type.Literal(true, { description: 'The store did not answer' })),
  },
  closed,
)

export const newEntry = Type.Object(
  {
    value,
    ttlMs: Type.Optional(Type.Integer({ description: "Instead of the space's" })),
    lease: Type.Optional(
      Type.String({ maxLength: 100, description: 'Store only if this lease is still valid' }),
    ),
  },
  closed,
)

export const leaseRequest = Type.Object(
  {
    ttlMs: Type.Optional(Type.Integer({ description: 'How long the lease lasts, 100 ms to a day' })),
    waitMs: Type.Optional(
      Type.Integer({ description: 'How long to wait while another caller loads, up to 30 s' }),
    ),
    refresh: Type.Optional(
      Type.Boolean({ description: 'Get the lease even if a value is cached or another caller holds it' }),
    ),
  },
  closed,
)
const lease = { lease: Type.String(), expiresAt: Type.String({ format: 'date-time' }) }

export const cachedOrStale = Type.Object(
  {
    ...cached.properties,
    lease: Type.Optional(lease.lease),
    expiresAt: Type.Optional(lease.expiresAt),
  },
  closed,
)
export const leased = Type.Object(lease, closed)
export const loading = Type.Object({ retryAfterMs: Type.Integer() }, closed)
export const leaseParams = Type.Object(
  { ...entryParams.properties, lease: Type.String({ maxLength: 100 }) },
  closed,
)

const count = { type: 'integer' }
const spaceStats = {
  type: 'object',
  properties: {
    ...{ firstTierHits: count, secondTierHits: count, misses: count, hitRate: { type: 'number' } },
    ...{ loads: count, loadFailures: count, loadMs: { type: 'number' }, earlyRefreshes: count },
    ...{ staleAnswers: count, waitedFills: count, voidFills: count, unreadable: count, tooLarge: count },
    ...{ negatives: count, degraded: count, loaded: count },
    firstTier: {
      type: 'object',
      properties: { entries: count, bytes: count, evictions: count, isTrusted: { type: 'boolean' } },
    },
    secondTier: {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['up', 'down'] },
        ...{ failures: count, skipped: count, pendingRemovals: count },
      },
    },
    source: { type: 'string', enum: ['up', 'down'] },
  },
}

export const cacheStats = Type.Object(
  {
    spaces: Type.Unsafe<Record<string, SpaceStats>>({
      type: 'object',
      additionalProperties: spaceStats,
      description: 'By space name, of this process since it started',
    }),
  },
  closed,
)
