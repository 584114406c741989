import { DEFAULT_MAX_SERIES } from '../core/figures.js'
import { DEFAULT_MEMBERSHIP } from '../guards/allowlist/membership/options.js'
import { DEFAULT_AUDIT, MAX_RETENTION_DAYS } from '../guards/audit/types.js'
import { DEFAULT_SPACE } from '../guards/cache/options.js'
import { DEFAULT_IDEMPOTENCY, MAX_LEASE_MS, MIN_LEASE_MS } from '../guards/idempotency/options.js'
import { DEFAULT_LOCKS } from '../guards/lock/options.js'
import { DEFAULT_CODES } from '../guards/one-time-code/options.js'
import { DEFAULT_LIMITS } from '../guards/rate-limit/options.js'
import { DEFAULT_TOKENS } from '../guards/token-denylist/types.js'
import {
  apiKeys,
  type BootstrapKey,
  cacheSpaces,
  choice,
  flag,
  httpUrl,
  integer,
  type Kind,
  listIds,
  redisUrl,
  redisUrls,
  share,
  storeUrl,
  text,
} from './kinds.js'
import type { Secret } from './secret.js'

/** One setting: everything the loader, the command line and the reference page know of it. */
export interface Setting<T> {
  readonly setting: true
  // biome-ignore lint/suspicious/noExplicitAny: a kind both takes and gives its type, so no other bound fits all.
  readonly kind: Kind<any>
  readonly default: T
  readonly env: string
  /** The option of the command line that sets it. */
  readonly flag?: string
  readonly description: string
  /** Also read from a file named by `ENV_FILE`, or by `pathFile` in the configuration file. */
  readonly secret: boolean
}

interface Facts {
  env: string
  flag?: string
  description: string
}

const setting = <T>(kind: Kind<T>, byDefault: T, facts: Facts): Setting<T> => ({
  setting: true,
  kind,
  default: byDefault,
  secret: false,
  ...facts,
})

const optional = <T>(kind: Kind<T>, facts: Facts): Setting<T | undefined> =>
  setting<T | undefined>(kind as Kind<T | undefined>, undefined, facts)

const secret = <T>(kind: Kind<T>, byDefault: T, facts: Facts): Setting<Secret<T>> => ({
  setting: true,
  kind,
  default: { read: () => byDefault },
  secret: true,
  ...facts,
})

const MIB = 1024 * 1024
/** The engines' own defaults, repeated here because configuration knows no engine; a test holds them equal. */
export const DEFAULT_EMBEDDED = {
  minFreeBytes: 64 * MIB,
  writeTimeoutMs: 10_000,
  maxLogBytes: 16 * MIB,
  cacheMaxBytes: 1024 * MIB,
} as const
export const DEFAULT_REDIS = {
  connectTimeoutMs: 5000,
  commandTimeoutMs: 3000,
  poolSize: 1,
  maxLogBytes: 16 * MIB,
  shardAbove: 5_000_000,
} as const
export const DEFAULT_DYNAMODB = {
  probeIntervalMs: 1000,
  readTimeoutMs: 5000,
  writeTimeoutMs: 10_000,
  revalidateAfterMs: 1000,
  staleAfterMs: 3000,
  tenShardsAbove: 20_000_000,
  fiftyShardsAbove: 50_000_000,
  giantAbove: 100_000_000,
} as const
const HOUR_MS = 3_600_000
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The shape of this table is the shape of the configuration file. */
export const SCHEMA = {
  store: setting(storeUrl, 'embedded:./catraca-data', {
    env: 'CATRACA_STORE',
    flag: '--store',
    description: 'Where the data is. Relative directories start at the working directory.',
  }),
  stores: {
    allowlists: optional(storeUrl, {
      env: 'CATRACA_STORE_ALLOWLISTS',
      description: 'Where allowlists and API keys are, when elsewhere than `store`. `--store` wins over it.',
    }),
    limits: optional(storeUrl, {
      env: 'CATRACA_STORE_LIMITS',
      description: 'Where rate limits are, when elsewhere than `store`. `--store` wins over it.',
    }),
    idempotency: optional(storeUrl, {
      env: 'CATRACA_STORE_IDEMPOTENCY',
      description: 'Where idempotency records are, when elsewhere than `store`. `--store` wins over it.',
    }),
    codes: optional(storeUrl, {
      env: 'CATRACA_STORE_CODES',
      description:
        'Where one-time codes are, when elsewhere than `store`; the start then refuses without `codes.pepper`. What is counted of them is with the rate limits. `--store` wins over it.',
    }),
    tokens: optional(storeUrl, {
      env: 'CATRACA_STORE_TOKENS',
      description: 'Where revoked tokens are, when elsewhere than `store`. `--store` wins over it.',
    }),
    locks: optional(storeUrl, {
      env: 'CATRACA_STORE_LOCKS',
      description: 'Where locks are, when elsewhere than `store`. `--store` wins over it.',
    }),
    cache: optional(storeUrl, {
      env: 'CATRACA_STORE_CACHE',
      description: 'Where the second tier of caches is, when elsewhere than `store`. `--store` wins over it.',
    }),
    audit: optional(storeUrl, {
      env: 'CATRACA_STORE_AUDIT',
      description: 'Where the audit trail is, when elsewhere than the allowlists. `--store` wins over it.',
    }),
  },
  server: {
    host: setting(text, '127.0.0.1', {
      env: 'CATRACA_HOST',
      flag: '--host',
      description: 'Address to listen on. Without any API key only a loopback address is accepted.',
    }),
    port: setting(integer(0, 65_535), 8080, {
      env: 'CATRACA_PORT',
      flag: '--port',
      description: 'Port to listen on; 0 takes any free one.',
    }),
    workers: setting(integer(1, 256), 1, {
      env: 'CATRACA_WORKERS',
      flag: '--workers',
      description: 'Processes that serve the port together. More than one needs a store that they can share.',
    }),
    bodyLimitBytes: setting(integer(1024, 1024 * MIB), MIB, {
      env: 'CATRACA_BODY_LIMIT_BYTES',
      description:
        'Largest body of a request that holds values or many ids; of the others it is at most 64 KiB. Imports are streams and have no limit.',
    }),
    bodyLimitValues: setting(integer(1000, 100_000_000), 20_000, {
      env: 'CATRACA_BODY_LIMIT_VALUES',
      description:
        'Most values in the body of a request, counting objects, lists and what is in them. What a body costs the server depends on it more than on bytes.',
    }),
    bodiesLimitBytes: setting(integer(1024, 1024 * 1024 * MIB), 64 * MIB, {
      env: 'CATRACA_BODIES_LIMIT_BYTES',
      description:
        'Bytes of bodies that are being received, of all callers together; what does not fit is refused (503). At least `bodyLimitBytes`.',
    }),
    transferTimeoutMs: setting(integer(100, HOUR_MS), 30_000, {
      env: 'CATRACA_TRANSFER_TIMEOUT_MS',
      description:
        'How long the headers, and then the body, of a request may take to arrive; imports may take longer. Also how long a caller may leave an answer unread.',
    }),
    maxConnections: optional(integer(1, 1_000_000), {
      env: 'CATRACA_MAX_CONNECTIONS',
      description:
        'Connections at once, of each worker; more are hung up on. When absent, as many as the limit of file descriptors leaves beside the needs of stores, and at most 10000.',
    }),
    maxInFlightPerConnection: setting(integer(1, 10_000), 8, {
      env: 'CATRACA_MAX_IN_FLIGHT_PER_CONNECTION',
      description:
        'Requests of one connection that are worked on at once, when its caller sends more without waiting for answers.',
    }),
    checkFastPath: setting(choice(['connection', 'request', 'off']), 'connection', {
      env: 'CATRACA_CHECK_FAST_PATH',
      description:
        'How plain checks are answered: on the connection itself, before the framework, or by it as all other requests. The answers are the same.',
    }),
    shutdownTimeoutMs: setting(integer(0, HOUR_MS), 10_000, {
      env: 'CATRACA_SHUTDOWN_TIMEOUT_MS',
      description:
        'How long a stop may take: requests that have begun are waited for, then the stores are closed. Stores get at least a second; what is not closed by then is left as it is. Also of `catraca relay`.',
    }),
    accessLogSampling: setting(share, 0.01, {
      env: 'CATRACA_ACCESS_LOG_SAMPLING',
      description: 'Share of answered requests that are logged; failures of the server always are.',
    }),
    logLevel: setting(choice(LOG_LEVELS), 'info', {
      env: 'CATRACA_LOG_LEVEL',
      description: 'Least severe messages that are logged.',
    }),
    logCustomerIds: setting(flag, false, {
      env: 'CATRACA_LOG_CUSTOMER_IDS',
      description: 'Log customer ids as they are, instead of hashed.',
    }),
    logHashKey: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_LOG_HASH_KEY',
      description:
        'Key of those hashes: the same everywhere to follow a customer across servers. Random when absent.',
    }),
    tlsCert: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_CERT',
      description:
        'Certificate of the server with those of its authorities, PEM. With it HTTPS is served, and nothing else.',
    }),
    tlsKey: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_KEY',
      description: 'Private key of that certificate, PEM.',
    }),
    tlsClientCa: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_CLIENT_CA',
      description:
        'Authorities of clients, PEM. With them only clients with a certificate of theirs may connect, beside their API key.',
    }),
    spoolDir: optional(text, {
      env: 'CATRACA_SPOOL_DIR',
      description: 'Directory for the bodies of asynchronous imports; the temporary directory when absent.',
    }),
  },
  keys: secret<readonly BootstrapKey[]>(apiKeys, [], {
    env: 'CATRACA_KEYS',
    description:
      'API keys that hold beside those in the store, by hash. `catraca key generate` makes an entry.',
  }),
  access: {
    maxStaleMs: setting(integer(1000, 24 * HOUR_MS), 5000, {
      env: 'CATRACA_ACCESS_MAX_STALE_MS',
      description:
        'How long API keys of the store are trusted while it does not answer; a key that is revoked meanwhile works until then. `/health` and `/metrics` take them for 15 minutes.',
    }),
  },
  embedded: {
    durability: setting(choice(['disk', 'process']), 'disk', {
      env: 'CATRACA_EMBEDDED_DURABILITY',
      description:
        'What an acknowledged write survives: a loss of power, or only the death of the process (kill -9).',
    }),
    limitsDurability: setting(choice(['process', 'disk']), 'process', {
      env: 'CATRACA_EMBEDDED_LIMITS_DURABILITY',
      description:
        'The same for what is used of rate limits. With `process` it is forgotten when the system restarts.',
    }),
    maxSizeBytes: optional(integer(MIB, 1024 * 1024 * 1024 * MIB), {
      env: 'CATRACA_EMBEDDED_MAX_SIZE_BYTES',
      description: 'Size at which the data file takes nothing more; as large as the disk when absent.',
    }),
    minFreeBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.minFreeBytes, {
      env: 'CATRACA_EMBEDDED_MIN_FREE_BYTES',
      description: 'Writes are refused when less than this is free on the disk.',
    }),
    writeTimeoutMs: setting(integer(10, HOUR_MS), DEFAULT_EMBEDDED.writeTimeoutMs, {
      env: 'CATRACA_EMBEDDED_WRITE_TIMEOUT_MS',
      description: 'After so long a write is reported as of unknown outcome.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_EMBEDDED.maxLogBytes, {
      env: 'CATRACA_EMBEDDED_MAX_LOG_BYTES',
      description:
        'Kept of the log of changes of each list; processes that are further behind load the list anew.',
    }),
    cacheMaxBytes: setting(integer(MIB, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.cacheMaxBytes, {
      env: 'CATRACA_EMBEDDED_CACHE_MAX_BYTES',
      description: 'Bytes of cached entries on the disk above which some of them make room.',
    }),
  },
  limits: {
    configCacheMs: setting(integer(0, HOUR_MS), DEFAULT_LIMITS.configCacheMs, {
      env: 'CATRACA_LIMITS_CONFIG_CACHE_MS',
      description:
        'How long a configuration of limits, or that there is none, is believed without asking the store.',
    }),
    configCacheEntries: setting(integer(1, 100_000_000), DEFAULT_LIMITS.configCacheEntries, {
      env: 'CATRACA_LIMITS_CONFIG_CACHE_ENTRIES',
      description: 'Configurations of limits kept in memory.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_LIMITS.timeoutMs, {
      env: 'CATRACA_LIMITS_TIMEOUT_MS',
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), 'block', {
      env: 'CATRACA_LIMITS_ON_UNAVAILABLE',
      description: 'What then happens where no level of the configuration says it.',
    }),
    inline: setting(choice(['never', 'tighten', 'any']), 'never', {
      env: 'CATRACA_LIMITS_INLINE',
      description:
        'What `limits` given in a request to the server may do: `never` are they taken, `tighten` has them deny besides the configured ones, `any` has them win over those.',
    }),
    leaseMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_LIMITS.leaseMs, {
      env: 'CATRACA_LIMITS_LEASE_MS',
      description: 'How long a lease can be adjusted or given back.',
    }),
    leaseSecret: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_LIMITS_LEASE_SECRET',
      description: 'Seals leases, read once at the start; one that the store keeps when absent.',
    }),
    localLeaseTokens: setting(integer(0, 1_000_000_000), 0, {
      env: 'CATRACA_LIMITS_LOCAL_LEASE_TOKENS',
      description: 'Tokens of each limit that a process takes ahead, to decide in memory; 0: none.',
    }),
    localLeaseMs: setting(integer(10, HOUR_MS), 1000, {
      env: 'CATRACA_LIMITS_LOCAL_LEASE_MS',
      description: 'How long it may keep them; what it has not used by then is given back.',
    }),
    usageFlushMs: setting(integer(100, HOUR_MS), DEFAULT_LIMITS.usageFlushMs, {
      env: 'CATRACA_LIMITS_USAGE_FLUSH_MS',
      description: 'How often what was admitted and denied is written down.',
    }),
    usage: setting(flag, DEFAULT_LIMITS.usage, {
      env: 'CATRACA_LIMITS_USAGE',
      description: 'Whether cost admitted and denied is counted at all, by resource and hour.',
    }),
    usageEntities: setting(integer(0, 100), DEFAULT_LIMITS.usageEntities, {
      env: 'CATRACA_LIMITS_USAGE_ENTITIES',
      description:
        'How many entities of each resource and hour usage tells apart, the heaviest; 0: only totals. At most twice as many are stored.',
    }),
    usageRetentionDays: setting(integer(1, 400), DEFAULT_LIMITS.usageRetentionMs / (24 * HOUR_MS), {
      env: 'CATRACA_LIMITS_USAGE_RETENTION_DAYS',
      description: 'How long usage is kept.',
    }),
  },
  idempotency: {
    naming: setting(choice(['operation', 'bare']), DEFAULT_IDEMPOTENCY.naming, {
      env: 'CATRACA_IDEMPOTENCY_NAMING',
      description:
        'Records by operation and key, or, `bare`, one for each key: then another operation with the same key is another request (422).',
    }),
    lifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.lifeMs, {
      env: 'CATRACA_IDEMPOTENCY_LIFE_MS',
      description: 'How long a record is kept when the request does not say.',
    }),
    minLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.minLifeMs, {
      env: 'CATRACA_IDEMPOTENCY_MIN_LIFE_MS',
      description: 'What `Idempotency-Expiry-Seconds` may ask for at least …',
    }),
    maxLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxLifeMs, {
      env: 'CATRACA_IDEMPOTENCY_MAX_LIFE_MS',
      description: '… and at most; what lies outside is refused.',
    }),
    leaseMs: setting(integer(MIN_LEASE_MS, MAX_LEASE_MS), DEFAULT_IDEMPOTENCY.leaseMs, {
      env: 'CATRACA_IDEMPOTENCY_LEASE_MS',
      description: 'After so long without a sign of life of its owner a claim may be taken over.',
    }),
    onLeaseExpired: setting(choice(['reclaim', 'unknown']), DEFAULT_IDEMPOTENCY.onLeaseExpired, {
      env: 'CATRACA_IDEMPOTENCY_ON_LEASE_EXPIRED',
      description: 'Whether it is, or is answered as of unknown outcome (409) and never done again.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_IDEMPOTENCY.timeoutMs, {
      env: 'CATRACA_IDEMPOTENCY_TIMEOUT_MS',
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_IDEMPOTENCY.onUnavailable, {
      env: 'CATRACA_IDEMPOTENCY_ON_UNAVAILABLE',
      description:
        'Whether `run` and the adapters then fail, or go on without any guarantee. Over HTTP a claim always fails.',
    }),
    maxResponseBytes: setting(integer(0, 16 * MIB), DEFAULT_IDEMPOTENCY.maxResponseBytes, {
      env: 'CATRACA_IDEMPOTENCY_MAX_RESPONSE_BYTES',
      description:
        'Largest response that is kept, as it is stored (compressed above 10 KB); of a larger one only that it was.',
    }),
    maxWorkMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxWorkMs, {
      env: 'CATRACA_IDEMPOTENCY_MAX_WORK_MS',
      description: 'Work that takes longer is told to stop and loses its claim when its lease has passed.',
    }),
  },
  tokens: {
    compareIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_TOKENS.compareIntervalMs, {
      env: 'CATRACA_TOKENS_COMPARE_INTERVAL_MS',
      description:
        'How often the revoked tokens in memory are compared with the store. 0: none are held, and the store is asked each time.',
    }),
    staleAfterMs: setting(integer(20, HOUR_MS), DEFAULT_TOKENS.staleAfterMs, {
      env: 'CATRACA_TOKENS_STALE_AFTER_MS',
      description:
        'Memory that was not known to be complete for so long does not answer: the store is asked.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_TOKENS.timeoutMs, {
      env: 'CATRACA_TOKENS_TIMEOUT_MS',
      description: 'A store that has not answered by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_TOKENS.onUnavailable, {
      env: 'CATRACA_TOKENS_ON_UNAVAILABLE',
      description:
        'What a check answers when neither memory nor the store can tell: an error (503), or not revoked with `degraded`.',
    }),
    maxEntries: setting(integer(1, 1_000_000_000), DEFAULT_TOKENS.maxEntries, {
      env: 'CATRACA_TOKENS_MAX_ENTRIES',
      description:
        'With so many unexpired revocations in memory, further ones are refused (507). A million takes some 20 MB of memory.',
    }),
  },
  codes: {
    pepper: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_OTP_PEPPER',
      description:
        'Secret of the hashes that one-time codes are kept as, the same for all processes. Made and kept in the data directory for `embedded:` and `memory:` when absent; in any other store the start refuses without it where codes are used (`codes.required`, `stores.codes`, or a key in `CATRACA_KEYS` that may issue or verify codes), and elsewhere their calls are refused (503, `CODES_NOT_SET_UP`).',
    }),
    previousPepper: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_OTP_PEPPER_PREVIOUS',
      description: 'The pepper before this one: codes that were issued under it are still found.',
    }),
    required: setting(flag, false, {
      env: 'CATRACA_CODES_REQUIRED',
      description: 'Refuse to start where one-time codes could not be used, instead of refusing their calls.',
    }),
    digits: setting(integer(4, 12), DEFAULT_CODES.digits, {
      env: 'CATRACA_CODES_DIGITS',
      description: 'Digits of a code.',
    }),
    emailLifeMs: setting(integer(1000, 24 * HOUR_MS), DEFAULT_CODES.lifeMs.email, {
      env: 'CATRACA_CODES_EMAIL_LIFE_MS',
      description: 'How long a code that is sent by e-mail can be used.',
    }),
    phoneLifeMs: setting(integer(1000, 24 * HOUR_MS), DEFAULT_CODES.lifeMs.phone, {
      env: 'CATRACA_CODES_PHONE_LIFE_MS',
      description: 'How long a code that is sent to a phone can be used.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_CODES.timeoutMs, {
      env: 'CATRACA_CODES_TIMEOUT_MS',
      description:
        'A store that has not decided by then counts as unavailable: nothing is issued and nobody passes.',
    }),
  },
  locks: {
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_LOCKS.timeoutMs, {
      env: 'CATRACA_LOCKS_TIMEOUT_MS',
      description: 'A store that has not decided about a lock by then counts as unavailable.',
    }),
    redlock: secret<readonly string[]>(redisUrls, [], {
      env: 'CATRACA_LOCKS_REDLOCK',
      description:
        'Three or more independent Redis servers that give locks by majority (Redlock), instead of a store. Such locks have no fences. Read once at the start.',
    }),
  },
  cache: {
    spaces: setting(cacheSpaces, [], {
      env: 'CATRACA_CACHE_SPACES',
      description:
        'Cache spaces that can be asked over HTTP and on the command line. All but `name` and `ttlMs` have [defaults](../cache.md#options).',
    }),
    timeoutMs: setting(integer(1, 60_000), DEFAULT_SPACE.timeoutMs, {
      env: 'CATRACA_CACHE_TIMEOUT_MS',
      description:
        'A store that takes longer counts as down: the cache goes on without it (see docs/cache.md).',
    }),
  },
  audit: {
    enabled: setting(flag, DEFAULT_AUDIT.enabled, {
      env: 'CATRACA_AUDIT_ENABLED',
      description: 'Whether changes of lists, limits and keys are recorded with who made them.',
    }),
    retentionDays: setting(integer(1, MAX_RETENTION_DAYS), DEFAULT_AUDIT.retentionDays, {
      env: 'CATRACA_AUDIT_RETENTION_DAYS',
      description: 'How long entries are kept; older ones are not shown, and dropped.',
    }),
    members: setting(flag, DEFAULT_AUDIT.members, {
      env: 'CATRACA_AUDIT_MEMBERS',
      description: 'Whether single members that are added or removed are recorded; imports always are.',
    }),
    onFailure: setting(choice(['report', 'fail']), DEFAULT_AUDIT.onFailure, {
      env: 'CATRACA_AUDIT_ON_FAILURE',
      description:
        'When a change was made and its entry cannot be written: log and count that, or tell the caller by an error.',
    }),
  },
  redis: {
    idempotencyNaming: setting(choice(['operation', 'bare']), 'operation', {
      env: 'CATRACA_REDIS_IDEMPOTENCY_NAMING',
      description:
        'The same as `idempotency.naming`, which may be given instead. Keys are `bridge:idempotency:OPERATION:KEY`, or, `bare`, without the operation.',
    }),
    connectTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.connectTimeoutMs, {
      env: 'CATRACA_REDIS_CONNECT_TIMEOUT_MS',
      description: 'How long a connection may take, handshake included.',
    }),
    commandTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.commandTimeoutMs, {
      env: 'CATRACA_REDIS_COMMAND_TIMEOUT_MS',
      description:
        'How long a call may take in all. A read fails then; a write is reported as of unknown outcome.',
    }),
    password: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_REDIS_PASSWORD',
      description: 'Password of the servers, when it does not stand in the store URL; it wins over that one.',
    }),
    poolSize: setting(integer(1, 100), DEFAULT_REDIS.poolSize, {
      env: 'CATRACA_REDIS_POOL_SIZE',
      description: 'Connections to each primary.',
    }),
    waitReplicas: setting(integer(0, 10), 0, {
      env: 'CATRACA_REDIS_WAIT_REPLICAS',
      description:
        'Replicas that must have a write before it is acknowledged (WAIT); a failover then loses it less easily.',
    }),
    waitTimeoutMs: setting(integer(1, HOUR_MS), 1000, {
      env: 'CATRACA_REDIS_WAIT_TIMEOUT_MS',
      description: 'How long to wait for them; then the write is reported as of unknown outcome.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_REDIS.maxLogBytes, {
      env: 'CATRACA_REDIS_MAX_LOG_BYTES',
      description:
        'Kept of the log of changes of each shard of a list; processes that are further behind load the list anew.',
    }),
    shardAbove: setting(integer(1000, 1_000_000_000), DEFAULT_REDIS.shardAbove, {
      env: 'CATRACA_REDIS_SHARD_ABOVE',
      description: 'Customers that one shard of a list holds; a larger list is cut into more of them.',
    }),
    tlsCaFile: optional(text, {
      env: 'CATRACA_REDIS_TLS_CA_FILE',
      description: 'PEM file of the authority that signed the certificates of the servers.',
    }),
    tlsServerName: optional(text, {
      env: 'CATRACA_REDIS_TLS_SERVER_NAME',
      description: 'Name that those certificates carry, when it is not the host of the URL.',
    }),
  },
  dynamodb: {
    topicArn: optional(text, {
      env: 'CATRACA_DYNAMODB_TOPIC_ARN',
      flag: '--topic',
      description:
        'SNS topic by which changes are told to pods at once; without it they look at the logs every so often.',
    }),
    probeIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_DYNAMODB.probeIntervalMs, {
      env: 'CATRACA_DYNAMODB_PROBE_INTERVAL_MS',
      description:
        'How often pods, together, test how far behind the table its logs are. 0: they are trusted to be complete.',
    }),
    daxEndpoint: optional(text, {
      env: 'CATRACA_DYNAMODB_DAX_ENDPOINT',
      description:
        'DAX cluster, as `dax://…` or `daxs://…`, through which ordinary confirmations are read. It needs the package `@amazon-dax-sdk/client-dax`.',
    }),
    hotTier: secret<string | undefined>(redisUrl as Kind<string | undefined>, undefined, {
      env: 'CATRACA_DYNAMODB_HOT_TIER',
      description:
        'Redis in which servers keep the members of `dynamodb.hotLists`, to confirm them without a request to DynamoDB. Its database must hold no other store.',
    }),
    hotLists: optional(listIds, {
      env: 'CATRACA_DYNAMODB_HOT_LISTS',
      description: 'Allowlists whose members are kept in that Redis.',
    }),
    readTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.readTimeoutMs, {
      env: 'CATRACA_DYNAMODB_READ_TIMEOUT_MS',
      description: 'How long a read may take, retries included.',
    }),
    writeTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.writeTimeoutMs, {
      env: 'CATRACA_DYNAMODB_WRITE_TIMEOUT_MS',
      description: 'How long a write may take, retries included; then it is reported as of unknown outcome.',
    }),
    idempotencyReadFirst: setting(choice(['auto', 'always', 'never']), 'auto', {
      env: 'CATRACA_DYNAMODB_IDEMPOTENCY_READ_FIRST',
      description:
        'Whether an idempotency record is read before it is claimed. A claim that finds a large record costs much more than a read; `auto`: where such claims have lately cost more than reads would have.',
    }),
    revalidateAfterMs: setting(integer(10, HOUR_MS), DEFAULT_DYNAMODB.revalidateAfterMs, {
      env: 'CATRACA_DYNAMODB_REVALIDATE_AFTER_MS',
      description:
        'What is known of a list itself (rule, generation, shards) is read again in the background when it is used and this old.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_DYNAMODB.staleAfterMs, {
      env: 'CATRACA_DYNAMODB_STALE_AFTER_MS',
      description: 'Older than this it is read before it answers. The same in all processes on a table.',
    }),
    tenShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.tenShardsAbove, {
      env: 'CATRACA_DYNAMODB_TEN_SHARDS_ABOVE',
      description: 'A list of more customers is cut into 10 shards.',
    }),
    fiftyShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.fiftyShardsAbove, {
      env: 'CATRACA_DYNAMODB_FIFTY_SHARDS_ABOVE',
      description: 'A list of more customers is cut into 50 shards.',
    }),
    giantAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.giantAbove, {
      env: 'CATRACA_DYNAMODB_GIANT_ABOVE',
      description: 'A list of more customers is moved to the table for giants, in 100 shards.',
    }),
  },
  allowlists: {
    onUnavailable: setting(choice(['block', 'allow']), 'block', {
      env: 'CATRACA_ALLOWLISTS_ON_UNAVAILABLE',
      description:
        'What a check answers when neither memory nor the store can tell: an error (503), or allowed with `degraded`.',
    }),
    sweepIntervalMs: setting(integer(100, HOUR_MS), 10_000, {
      env: 'CATRACA_SWEEP_INTERVAL_MS',
      description:
        'How often expired members and records, deleted lists, abandoned imports and spent limits are looked for.',
    }),
  },
  membership: {
    maxBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_MEMBERSHIP.maxBytes, {
      env: 'CATRACA_MEMBERSHIP_MAX_BYTES',
      description: 'Memory for the indexes of lists; the least recently used are dropped. 0: no index.',
    }),
    build: setting(choice(['auto', 'off']), DEFAULT_MEMBERSHIP.build, {
      env: 'CATRACA_MEMBERSHIP_BUILD',
      description: 'Whether this process builds indexes when they are due, or leaves it to others.',
    }),
    rebuildShare: setting(share, DEFAULT_MEMBERSHIP.rebuildShare, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_SHARE',
      description: 'An index is built anew when this share of the list has changed since …',
    }),
    rebuildAtLeast: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.rebuildAtLeast, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_AT_LEAST',
      description: '… but not before so many customers have changed.',
    }),
    rebuildAgeMs: setting(integer(0, 365 * 24 * HOUR_MS), DEFAULT_MEMBERSHIP.rebuildAgeMs, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_AGE_MS',
      description: 'An index this old is built anew if anything has changed.',
    }),
    maxOverlay: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.maxOverlay, {
      env: 'CATRACA_MEMBERSHIP_MAX_OVERLAY',
      description:
        'With more changes than this since its snapshot a list is checked in the store until it is built.',
    }),
    buildLeaseMs: setting(integer(1000, HOUR_MS), DEFAULT_MEMBERSHIP.buildLeaseMs, {
      env: 'CATRACA_MEMBERSHIP_BUILD_LEASE_MS',
      description: 'After so long without a sign of life a build may be taken over.',
    }),
    verificationEntries: setting(integer(0, 100_000_000), DEFAULT_MEMBERSHIP.verificationEntries, {
      env: 'CATRACA_VERIFICATION_CACHE_ENTRIES',
      description: 'Confirmed answers kept in memory.',
    }),
    verificationTtlMs: setting(integer(0, HOUR_MS), DEFAULT_MEMBERSHIP.verificationTtlMs, {
      env: 'CATRACA_VERIFICATION_CACHE_TTL_MS',
      description: 'How long a confirmed answer is kept at most.',
    }),
    compareIntervalMs: setting(integer(10, HOUR_MS), DEFAULT_MEMBERSHIP.compareIntervalMs, {
      env: 'CATRACA_MEMBERSHIP_COMPARE_INTERVAL_MS',
      description: 'How often what is in memory is compared with the store.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_MEMBERSHIP.staleAfterMs, {
      env: 'CATRACA_MEMBERSHIP_STALE_AFTER_MS',
      description:
        'A list whose changes could not be followed for so long is checked in the store instead of in memory.',
    }),
    warmUpLists: setting(integer(0, 10_000), DEFAULT_MEMBERSHIP.warmUpLists, {
      env: 'CATRACA_MEMBERSHIP_WARM_UP_LISTS',
      description: 'The most used lists that are loaded before the server says that it is ready.',
    }),
  },
  import: {
    leaseMs: setting(integer(1000, HOUR_MS), 15_000, {
      env: 'CATRACA_IMPORT_LEASE_MS',
      description: 'After so long without a sign of life an import counts as interrupted and can be resumed.',
    }),
    spoolDir: optional(text, {
      env: 'CATRACA_IMPORT_SPOOL_DIR',
      description:
        'Directory for the sorted runs of a replacing import; the temporary directory when absent.',
    }),
  },
  metrics: {
    enabled: setting(flag, true, {
      env: 'CATRACA_METRICS_ENABLED',
      description: 'Count what is done, and show it to Prometheus at `/metrics`.',
    }),
    maxSeries: setting(integer(0, 10_000), DEFAULT_MAX_SERIES, {
      env: 'CATRACA_METRICS_MAX_SERIES',
      description:
        'Lists, resources and cache spaces that are counted apart, of each; what comes later counts as `other`.',
    }),
    emf: setting(flag, false, {
      env: 'CATRACA_METRICS_EMF',
      description:
        'Also write the metrics of the namespace `Allowlist/Pod` for CloudWatch to standard output, once a minute.',
    }),
  },
  tracing: {
    enabled: setting(flag, true, {
      env: 'CATRACA_TRACING_ENABLED',
      description:
        'Make spans where the process has a provider of OpenTelemetry registered; without one there are none, and no cost.',
    }),
  },
  client: {
    url: optional(httpUrl, {
      env: 'CATRACA_URL',
      flag: '--url',
      description: 'Server that the commands talk to, instead of opening the store.',
    }),
    key: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_KEY',
      description: 'API key that the commands present to that server.',
    }),
  },
  debug: setting(flag, false, {
    env: 'CATRACA_DEBUG',
    description: 'Commands that fail print the stack too.',
  }),
} as const

export type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : ConfigOf<S[K]>
}

/** The whole configuration, checked and frozen. */
export type Config = ConfigOf<typeof SCHEMA>

/** Every setting by its path, such as `server.port`. */
export const SETTINGS: ReadonlyMap<string, Setting<unknown>> = new Map(flatten(SCHEMA, ''))

function flatten(table: object, prefix: string): [string, Setting<unknown>][] {
  return Object.entries(table).flatMap(([name, entry]): [string, Setting<unknown>][] =>
    isSetting(entry) ? [[prefix + name, entry]] : flatten(entry, `${prefix}${name}.`),
  )
}

export function isSetting(entry: unknown): entry is Setting<unknown> {
  return typeof entry === 'object' && entry !== null && 'setting' in entry && entry.setting === true
}
