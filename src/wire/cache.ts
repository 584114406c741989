import { ageMs, byName, closed, degraded, listing, oneOf, pageOf } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const params = {
  space: Type.String({ description: 'A space that the configuration names, such as dict:entry:key' }),
  key: Type.String({ description: 'Within the space' }),
}
const value = Type.Unknown({ description: 'Any JSON. null only with a lease: the source has no value' })

const Cached = Type.Object(
  {
    value,
    ageMs: Type.Integer({ description: 'Milliseconds since it was stored; on Redis an upper bound' }),
    stale: Type.Optional(Type.Literal(true, { description: 'Older than its TTL' })),
    degraded,
  },
  closed,
)

const NewEntry = Type.Object(
  {
    value,
    ttlMs: Type.Optional(Type.Integer({ description: "Instead of the space's" })),
    lease: Type.Optional(
      Type.String({ maxLength: 100, description: 'Store only if this lease is still valid' }),
    ),
  },
  closed,
)

const LeaseRequest = Type.Object(
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
const CachedOrStale = Type.Object(
  {
    ...Cached.properties,
    lease: Type.Optional(lease.lease),
    expiresAt: Type.Optional(lease.expiresAt),
  },
  closed,
)

const figure = Type.Integer()
const upOrDown = oneOf(['up', 'down'])
const spaceStats = Type.Partial(
  Type.Object({
    ...{ firstTierHits: figure, secondTierHits: figure, misses: figure, hitRate: Type.Number() },
    ...{ loads: figure, loadFailures: figure, loadMs: Type.Number(), earlyRefreshes: figure },
    ...{ staleAnswers: figure, waitedFills: figure, voidFills: figure, unreadable: figure },
    ...{ tooLarge: figure, negatives: figure, degraded: figure, loaded: figure },
    firstTier: Type.Partial(
      Type.Object({ entries: figure, bytes: figure, evictions: figure, isTrusted: Type.Boolean() }),
    ),
    secondTier: Type.Partial(
      Type.Object({ status: upOrDown, failures: figure, skipped: figure, pendingRemovals: figure }),
    ),
    source: upOrDown,
  }),
)
const CacheStats = Type.Object(
  { spaces: byName(spaceStats, { description: 'By space name, of this process since it started' }) },
  closed,
)

const ListedEntry = Type.Object(
  {
    key: Type.String(),
    ageMs: Type.Optional(ageMs),
    leftMs: Type.Optional(
      Type.Integer({ description: 'Until the store deletes it; absent if it has no end' }),
    ),
    sizeBytes: Type.Optional(Type.Integer({ description: 'As stored' })),
  },
  closed,
)

export const CACHE = operations('cache', {
  getCached: {
    route: 'GET /cache/:space/:key',
    isHot: true,
    summary: 'Read a cached value',
    scope: 'cache',
    params,
    answers: { 200: ['The value', Cached] },
  },
  cacheStats: {
    route: 'GET /cache',
    summary: 'Hits, misses, loads and the state of both tiers',
    scope: 'cache',
    rules: { orAdmin: true },
    answers: { 200: ['By space', CacheStats] },
  },
  listCached: {
    route: 'GET /cache/:space',
    summary: 'List the keys that the store has of a space, without their values. Does not block the store',
    scope: 'cache',
    rules: { orAdmin: true },
    params: { space: params.space },
    query: listing,
    answers: { 200: ['A page, in the order of the store', pageOf(ListedEntry)] },
  },
  setCached: {
    route: 'PUT /cache/:space/:key',
    isHot: true,
    summary: 'Cache a value; with a lease, only while the lease is valid',
    scope: 'cache',
    params,
    body: NewEntry,
    hasLargeBody: true,
    answers: { 204: 'Cached' },
  },
  expireCached: {
    route: 'POST /cache/:space/:key/expire',
    summary:
      'Mark a value as stale: the next request loads it again, and the stale value serves if the load fails',
    scope: 'cache',
    params,
    answers: { 204: 'The value is stale on all pods' },
  },
  deleteCached: {
    route: 'DELETE /cache/:space/:key',
    summary: 'Delete a cached value, on all pods',
    scope: 'cache',
    rules: { orAdmin: true },
    params,
    answers: { 204: 'Deleted' },
  },
  leaseCached: {
    route: 'POST /cache/:space/:key/lease',
    summary: 'Read a cached value, or get the lease to load it',
    scope: 'cache',
    params,
    body: LeaseRequest,
    answers: {
      200: ['The cached value. If a lease comes with it, the value is stale and you load it', CachedOrStale],
      201: ['Nothing is cached: you hold the lease and load the value', Type.Object(lease, closed)],
      202: [
        'Another caller loads the value; ask again after Retry-After',
        Type.Object({ retryAfterMs: Type.Integer() }, closed),
      ],
    },
  },
  releaseCached: {
    route: 'DELETE /cache/:space/:key/lease/:lease',
    summary: 'Release a lease, because the load failed',
    scope: 'cache',
    params: { ...params, lease: Type.String({ maxLength: 100 }) },
    answers: { 204: 'Released: another caller may load at once' },
  },
})
