import { type Fields, fieldsOf, KnownFields } from '../core/fields.js'
import type { RedisEngineOptions } from '../engines/redis/index.js'
import type { RedisOptions } from '../engines/redis/link/options.js'
import { DEFAULT_MEMBERSHIP } from '../guards/allowlist/membership/options.js'
import { DEFAULT_AUDIT } from '../guards/audit/types.js'
import { DEFAULT_IDEMPOTENCY } from '../guards/idempotency/options.js'
import { DEFAULT_LOCKS } from '../guards/lock/options.js'
import { DEFAULT_CODES } from '../guards/one-time-code/options.js'
import { DEFAULT_LIMITS } from '../guards/rate-limit/options.js'
import { DEFAULT_TOKENS } from '../guards/token-denylist/types.js'
import type { OpenOptions } from './open-catraca.js'

const HOT_REDIS: Fields<Omit<RedisOptions, 'readPassword'>> = {
  ...{ connectTimeoutMs: true, commandTimeoutMs: true, poolSize: true, maxInFlight: true, maxWaiting: true },
  tls: { ca: true, servername: true, rejectUnauthorized: true },
  maxBatch: { items: true, bytes: true },
  waitReplicas: { replicas: true, timeoutMs: true },
}

const REDIS: Fields<RedisEngineOptions> = {
  ...HOT_REDIS,
  ...{ readPassword: true, maxLogBytes: true, staleAfterMs: true, shardAbove: true, initialShards: true },
  ...{ limitClock: true, idempotencyClock: true, idempotencyNaming: true, use: true },
}

const DYNAMODB: Fields<NonNullable<OpenOptions['dynamodb']>> = {
  ...{ connectTimeoutMs: true, requestTimeoutMs: true, readTimeoutMs: true, writeTimeoutMs: true },
  ...{ batchTimeoutMs: true, maxAttempts: true, maxSockets: true, credentials: true, random: true },
  ...{ revalidateAfterMs: true, staleAfterMs: true, maxCachedLists: true, maxDifferences: true },
  ...{ daxEndpoint: true, counter: true, checkTables: true, topicArn: true, queues: true },
  ...{ probeIntervalMs: true, sizes: true, idempotencyReadFirst: true, limitClock: true },
  ...{ now: true, monotonicMs: true, report: true },
  hotTier: { url: true, readUrl: true, lists: true, checkTimeoutMs: true, leaseMs: true, redis: HOT_REDIS },
}

const FIELDS: Fields<OpenOptions> = {
  ...{ store: true, clock: true, sweepIntervalMs: true, onUnavailable: true, onReport: true },
  embedded: {
    ...{
      durability: true,
      limitsDurability: true,
      maxSizeBytes: true,
      minFreeBytes: true,
      maxLogBytes: true,
    },
    ...{ cacheMaxBytes: true, writeTimeoutMs: true, gate: true, writes: true },
  },
  redis: REDIS,
  dynamodb: DYNAMODB,
  membership: fieldsOf(DEFAULT_MEMBERSHIP),
  limits: {
    ...fieldsOf(DEFAULT_LIMITS),
    ...{ store: true, leaseSecret: true },
    localLease: { tokens: true, ms: true },
    defaults: { onUnavailable: true, autoUpdate: true, strictVersion: true, limits: true },
  },
  idempotency: { ...fieldsOf(DEFAULT_IDEMPOTENCY), store: true },
  codes: {
    ...fieldsOf(DEFAULT_CODES),
    lifeMs: fieldsOf(DEFAULT_CODES.lifeMs),
    ...{ store: true, pepper: true, previousPepper: true, required: true },
  },
  tokens: { ...fieldsOf(DEFAULT_TOKENS), store: true },
  locks: { ...fieldsOf(DEFAULT_LOCKS), store: true, redlock: true },
  cache: { store: true, timeoutMs: true, spaces: true },
  metrics: { enabled: true, maxSeries: true },
  audit: { ...fieldsOf(DEFAULT_AUDIT), actor: { kind: true, name: true, id: true }, store: true },
  tracing: { enabled: true },
  import: { leaseMs: true, spoolDir: true },
}

/** All options of `openCatraca`. Without this check, an unknown name would silently mean the default. */
export const OPEN_FIELDS = new KnownFields(FIELDS)
