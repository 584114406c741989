import type { SpaceStats } from '../cache/types.js'
import { Type } from './typebox.js'

const closed = { additionalProperties: false } as const

export const entryParams = Type.Object(
  {
    space: Type.String({ description: 'A space that the configuration names, such as dict:entry:key' }),
    key: Type.String({ description: 'Within the space' }),
  },
  closed,
)

const value = Type.Unknown({ description: 'Any JSON but null' })

export const cached = Type.Object(
  {
    value,
    ageMs: Type.Integer({ description: 'Since it was stored; on Redis at most so long' }),
    stale: Type.Optional(Type.Literal(true, { description: 'Older than its TTL' })),
    degraded: Type.Optional(Type.Literal(true, { description: 'The store did not answer' })),
  },
  closed,
)

export const newEntry = Type.Object(
  { value, ttlMs: Type.Optional(Type.Integer({ description: "Instead of the space's" })) },
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
      description: 'By name, of this process since it began',
    }),
  },
  closed,
)
