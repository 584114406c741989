import { DEFAULT_MAX_SERIES } from '../core/figures.js'
import { LOG_LEVELS } from '../core/log-levels.js'
import { DEFAULT_DYNAMODB } from '../engines/dynamodb/defaults.js'
import { DEFAULT_EMBEDDED } from '../engines/embedded/defaults.js'
import { DEFAULT_REDIS } from '../engines/redis/defaults.js'
import { DEFAULT_MEMBERSHIP } from '../guards/allowlist/membership/options.js'
import { DEFAULT_AUDIT, MAX_RETENTION_DAYS } from '../guards/audit/types.js'
import { DEFAULT_SPACE } from '../guards/cache/options.js'
import { DEFAULT_IDEMPOTENCY, MAX_LEASE_MS, MIN_LEASE_MS } from '../guards/idempotency/options.js'
import { DEFAULT_LOCKS } from '../guards/lock/options.js'
import { DEFAULT_CODES } from '../guards/one-time-code/options.js'
import { DEFAULT_LIMITS } from '../guards/rate-limit/options.js'
import { DEFAULT_TOKENS } from '../guards/token-denylist/types.js'
import type { Secret } from './secret.js'
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
} from './value-kinds.js'

/** One setting: everything that the loader, the command line and the reference page need. */
export interface Setting<T> {
  readonly setting: true
  // biome-ignore lint/suspicious/noExplicitAny: a kind both takes and gives its type, so no other bound fits all.
  readonly kind: Kind<any>
  readonly default: T
  readonly env: string
  /** The command line option that sets it. */
  readonly flag?: string
  readonly description: string
  /** Also read from the file that `ENV_FILE` names, or `pathFile` in the configuration file. */
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
const HOUR_MS = 3_600_000

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
        'Where one-time codes are, when elsewhere than `store`; `codes.pepper` is then required to start. Their attempt counters are stored with the rate limits. `--store` wins over it.',
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
      description: 'Port to listen on; 0 means any free port.',
    }),
    workers: setting(integer(1, 256), 1, {
      env: 'CATRACA_WORKERS',
      flag: '--workers',
      description:
        'Worker processes that serve the port. More than one needs a store that processes can share.',
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
        'Bytes of request bodies in flight, over all connections. A body that does not fit is refused (503). At least `bodyLimitBytes`.',
    }),
    transferTimeoutMs: setting(integer(100, HOUR_MS), 30_000, {
      env: 'CATRACA_TRANSFER_TIMEOUT_MS',
      description:
        'Time limit for receiving the headers of a request, and then its body; imports may take longer. Also how long a client may leave a response unread.',
    }),
    maxConnections: optional(integer(1, 1_000_000), {
      env: 'CATRACA_MAX_CONNECTIONS',
      description:
        'Open connections of each worker; further ones are closed at once. When absent: what the file descriptor limit leaves after the needs of the stores, at most 10000.',
    }),
    maxInFlightPerConnection: setting(integer(1, 10_000), 8, {
      env: 'CATRACA_MAX_IN_FLIGHT_PER_CONNECTION',
      description: 'Requests of one connection that are handled at the same time, when the client pipelines.',
    }),
    checkFastPath: setting(choice(['connection', 'request', 'off']), 'connection', {
      env: 'CATRACA_CHECK_FAST_PATH',
      description:
        'How plain checks are answered: `connection` on the raw connection, `request` before the framework, `off` by the framework like all other requests. The responses are the same.',
    }),
    shutdownTimeoutMs: setting(integer(0, HOUR_MS), 10_000, {
      env: 'CATRACA_SHUTDOWN_TIMEOUT_MS',
      description:
        'Time limit for stopping. The server finishes requests in flight, then closes the stores, which get at least a second. A store that is not closed by then is abandoned. Also for `catraca relay`.',
    }),
    accessLogSampling: setting(share, 0.01, {
      env: 'CATRACA_ACCESS_LOG_SAMPLING',
      description: 'Share of answered requests that are logged. Server errors are always logged.',
    }),
    logLevel: setting(choice(LOG_LEVELS), 'info', {
      env: 'CATRACA_LOG_LEVEL',
      description: 'Lowest severity that is logged.',
    }),
    logCustomerIds: setting(flag, false, {
      env: 'CATRACA_LOG_CUSTOMER_IDS',
      description: 'Log customer ids as they are, instead of hashed.',
    }),
    logHashKey: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_LOG_HASH_KEY',
      description:
        'Key for hashing customer ids in the log. Use the same key on all servers to follow a customer across them. Random when absent.',
    }),
    tlsCert: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_CERT',
      description: 'Certificate chain of the server, PEM. When set, the server accepts only HTTPS.',
    }),
    tlsKey: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_KEY',
      description: 'Private key of the server certificate, PEM.',
    }),
    tlsClientCa: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_TLS_CLIENT_CA',
      description:
        'Certificate authorities of clients, PEM. When set, a client needs a certificate that one of them signed, in addition to its API key.',
    }),
    spoolDir: optional(text, {
      env: 'CATRACA_SPOOL_DIR',
      description: 'Directory for the bodies of asynchronous imports; the temporary directory when absent.',
    }),
  },
  keys: secret<readonly BootstrapKey[]>(apiKeys, [], {
    env: 'CATRACA_KEYS',
    description:
      'API keys, by hash, that are valid in addition to those in the store. `catraca key generate` makes an entry.',
  }),
  access: {
    maxStaleMs: setting(integer(1000, 24 * HOUR_MS), 5000, {
      env: 'CATRACA_ACCESS_MAX_STALE_MS',
      description:
        'How long API keys of the store are trusted while it does not answer. A key that is revoked during that time keeps working until then. `/health` and `/metrics` accept them for 15 minutes.',
    }),
  },
  embedded: {
    durability: setting(choice(['disk', 'process']), DEFAULT_EMBEDDED.durability, {
      env: 'CATRACA_EMBEDDED_DURABILITY',
      description:
        'What an acknowledged write survives: a power loss (`disk`), or only the death of the process such as kill -9 (`process`).',
    }),
    limitsDurability: setting(choice(['process', 'disk']), DEFAULT_EMBEDDED.limitsDurability, {
      env: 'CATRACA_EMBEDDED_LIMITS_DURABILITY',
      description:
        'The same for the counters of rate limits. With `process` they are lost when the system restarts.',
    }),
    maxSizeBytes: optional(integer(MIB, 1024 * 1024 * 1024 * MIB), {
      env: 'CATRACA_EMBEDDED_MAX_SIZE_BYTES',
      description:
        'Size at which the data takes nothing more; as large as the disk when absent. The file may be larger by what was freed in it.',
    }),
    minFreeBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.minFreeBytes, {
      env: 'CATRACA_EMBEDDED_MIN_FREE_BYTES',
      description: 'Writes are refused when less than this is free on the disk.',
    }),
    writeTimeoutMs: setting(integer(10, HOUR_MS), DEFAULT_EMBEDDED.writeTimeoutMs, {
      env: 'CATRACA_EMBEDDED_WRITE_TIMEOUT_MS',
      description: 'A write that takes longer is reported with an unknown outcome.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_EMBEDDED.maxLogBytes, {
      env: 'CATRACA_EMBEDDED_MAX_LOG_BYTES',
      description:
        'Size of the change log that is kept of each list. A process that falls further behind reloads the list.',
    }),
    cacheMaxBytes: setting(integer(MIB, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.cacheMaxBytes, {
      env: 'CATRACA_EMBEDDED_CACHE_MAX_BYTES',
      description: 'Bytes of cache entries on the disk. Above this, entries are evicted.',
    }),
  },
  limits: {
    configCacheMs: setting(integer(0, HOUR_MS), DEFAULT_LIMITS.configCacheMs, {
      env: 'CATRACA_LIMITS_CONFIG_CACHE_MS',
      description: 'How long a configuration of limits, or its absence, is cached in memory.',
    }),
    configCacheEntries: setting(integer(1, 100_000_000), DEFAULT_LIMITS.configCacheEntries, {
      env: 'CATRACA_LIMITS_CONFIG_CACHE_ENTRIES',
      description: 'How many configurations of limits are cached in memory.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_LIMITS.timeoutMs, {
      env: 'CATRACA_LIMITS_TIMEOUT_MS',
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), 'block', {
      env: 'CATRACA_LIMITS_ON_UNAVAILABLE',
      description:
        'What an acquire does when the store is unavailable and no level of the limit configuration says it: deny with an error (503), or let pass.',
    }),
    inline: setting(choice(['never', 'tighten', 'any']), 'never', {
      env: 'CATRACA_LIMITS_INLINE',
      description:
        'What `limits` in a request to the server may do. `never`: they are refused. `tighten`: they apply in addition to the configured limits. `any`: they override the configured limits.',
    }),
    leaseMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_LIMITS.leaseMs, {
      env: 'CATRACA_LIMITS_LEASE_MS',
      description: 'How long a lease can be adjusted or given back.',
    }),
    leaseSecret: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_LIMITS_LEASE_SECRET',
      description:
        'Secret that encrypts lease ids, read once at the start. When absent, one is generated and kept in the store.',
    }),
    localLeaseTokens: setting(integer(0, 1_000_000_000), 0, {
      env: 'CATRACA_LIMITS_LOCAL_LEASE_TOKENS',
      description:
        'Tokens of each limit that a process takes from the store in advance, to decide in memory; 0: none.',
    }),
    localLeaseMs: setting(integer(10, HOUR_MS), 1000, {
      env: 'CATRACA_LIMITS_LOCAL_LEASE_MS',
      description:
        'How long a process may hold the tokens of `limits.localLeaseTokens`. Unused ones are then returned to the store.',
    }),
    usageFlushMs: setting(integer(100, HOUR_MS), DEFAULT_LIMITS.usageFlushMs, {
      env: 'CATRACA_LIMITS_USAGE_FLUSH_MS',
      description: 'How often usage (cost admitted and denied) is written to the store.',
    }),
    usage: setting(flag, DEFAULT_LIMITS.usage, {
      env: 'CATRACA_LIMITS_USAGE',
      description: 'Whether usage (cost admitted and denied) is counted, by resource and hour.',
    }),
    usageEntities: setting(integer(0, 100), DEFAULT_LIMITS.usageEntities, {
      env: 'CATRACA_LIMITS_USAGE_ENTITIES',
      description:
        'How many entities, the heaviest, usage counts separately for each resource and hour; 0: only totals. The store holds at most twice as many.',
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
        '`operation`: one record for each operation and key. `bare`: one record for each key; the same key with another operation is then refused as another request (422).',
    }),
    lifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.lifeMs, {
      env: 'CATRACA_IDEMPOTENCY_LIFE_MS',
      description: 'How long a record is kept when the request does not set it.',
    }),
    minLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.minLifeMs, {
      env: 'CATRACA_IDEMPOTENCY_MIN_LIFE_MS',
      description: 'Shortest life that `Idempotency-Expiry-Seconds` may request; a shorter one is refused.',
    }),
    maxLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxLifeMs, {
      env: 'CATRACA_IDEMPOTENCY_MAX_LIFE_MS',
      description: 'Longest life that `Idempotency-Expiry-Seconds` may request; a longer one is refused.',
    }),
    leaseMs: setting(integer(MIN_LEASE_MS, MAX_LEASE_MS), DEFAULT_IDEMPOTENCY.leaseMs, {
      env: 'CATRACA_IDEMPOTENCY_LEASE_MS',
      description:
        'How long a claim is held without being extended. Then it has expired, see `idempotency.onLeaseExpired`.',
    }),
    onLeaseExpired: setting(choice(['reclaim', 'unknown']), DEFAULT_IDEMPOTENCY.onLeaseExpired, {
      env: 'CATRACA_IDEMPOTENCY_ON_LEASE_EXPIRED',
      description:
        'What happens to an expired claim. `reclaim`: the next request takes it over. `unknown`: requests get an error (409), and the work is not executed again.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_IDEMPOTENCY.timeoutMs, {
      env: 'CATRACA_IDEMPOTENCY_TIMEOUT_MS',
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_IDEMPOTENCY.onUnavailable, {
      env: 'CATRACA_IDEMPOTENCY_ON_UNAVAILABLE',
      description:
        'When the store is unavailable: `run` and the adapters fail (`block`), or execute the request without any guarantee (`allow`). Over HTTP a claim always fails.',
    }),
    maxResponseBytes: setting(integer(0, 16 * MIB), DEFAULT_IDEMPOTENCY.maxResponseBytes, {
      env: 'CATRACA_IDEMPOTENCY_MAX_RESPONSE_BYTES',
      description:
        'Largest response that is stored, measured as stored (compressed above 10 KB). Of a larger response only its size is recorded.',
    }),
    maxWorkMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxWorkMs, {
      env: 'CATRACA_IDEMPOTENCY_MAX_WORK_MS',
      description:
        'Work that takes longer is aborted by its signal, and loses its claim when the lease expires.',
    }),
  },
  tokens: {
    compareIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_TOKENS.compareIntervalMs, {
      env: 'CATRACA_TOKENS_COMPARE_INTERVAL_MS',
      description:
        'How often the revoked tokens in memory are compared with the store. 0: memory holds none, and every check reads the store.',
    }),
    staleAfterMs: setting(integer(20, HOUR_MS), DEFAULT_TOKENS.staleAfterMs, {
      env: 'CATRACA_TOKENS_STALE_AFTER_MS',
      description: 'When memory has not been confirmed as complete for this long, checks read the store.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_TOKENS.timeoutMs, {
      env: 'CATRACA_TOKENS_TIMEOUT_MS',
      description: 'A store that has not answered by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_TOKENS.onUnavailable, {
      env: 'CATRACA_TOKENS_ON_UNAVAILABLE',
      description:
        'What a check answers when neither memory nor the store can: an error (503), or not revoked with `degraded`.',
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
        'Secret for hashing one-time codes, the same for all processes. When absent, `embedded:` and `memory:` stores generate and keep one. With any other store the server refuses to start without it if codes are used (`codes.required`, `stores.codes`, or a key in `CATRACA_KEYS` that may issue or verify codes); otherwise calls for codes are refused (503, `CODES_NOT_SET_UP`).',
    }),
    previousPepper: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_OTP_PEPPER_PREVIOUS',
      description: 'The previous pepper: codes that were issued with it still work.',
    }),
    required: setting(flag, false, {
      env: 'CATRACA_CODES_REQUIRED',
      description: 'Refuse to start when one-time codes cannot be used, instead of refusing their calls.',
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
        'A store that has not decided by then counts as unavailable: no code is issued, and no code is accepted.',
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
        'Three or more independent Redis servers that grant locks by majority (Redlock), instead of a store. Such locks have no fencing numbers. Read once at the start.',
    }),
  },
  cache: {
    spaces: setting(cacheSpaces, [], {
      env: 'CATRACA_CACHE_SPACES',
      description:
        'Cache spaces that HTTP and the command line can use. All fields but `name` and `ttlMs` have [defaults](../cache.md#options).',
    }),
    timeoutMs: setting(integer(1, 60_000), DEFAULT_SPACE.timeoutMs, {
      env: 'CATRACA_CACHE_TIMEOUT_MS',
      description:
        'A store that takes longer counts as down: the cache continues without it (see docs/cache.md).',
    }),
  },
  audit: {
    enabled: setting(flag, DEFAULT_AUDIT.enabled, {
      env: 'CATRACA_AUDIT_ENABLED',
      description: 'Whether changes of lists, limits and keys are recorded with who made them.',
    }),
    retentionDays: setting(integer(1, MAX_RETENTION_DAYS), DEFAULT_AUDIT.retentionDays, {
      env: 'CATRACA_AUDIT_RETENTION_DAYS',
      description: 'How long entries are kept. Older entries are hidden, then deleted.',
    }),
    members: setting(flag, DEFAULT_AUDIT.members, {
      env: 'CATRACA_AUDIT_MEMBERS',
      description:
        'Whether the addition and removal of single members is recorded. Imports are always recorded.',
    }),
    onFailure: setting(choice(['report', 'fail']), DEFAULT_AUDIT.onFailure, {
      env: 'CATRACA_AUDIT_ON_FAILURE',
      description:
        'When a change was made but its audit entry cannot be written: log and count the failure (`report`), or return an error to the caller (`fail`).',
    }),
  },
  redis: {
    idempotencyNaming: setting(choice(['operation', 'bare']), DEFAULT_REDIS.idempotencyNaming, {
      env: 'CATRACA_REDIS_IDEMPOTENCY_NAMING',
      description:
        'The same as `idempotency.naming`, which may be given instead. Redis keys are `bridge:idempotency:OPERATION:KEY`; with `bare`, without the operation.',
    }),
    connectTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.connectTimeoutMs, {
      env: 'CATRACA_REDIS_CONNECT_TIMEOUT_MS',
      description: 'Time limit for connecting, handshake included.',
    }),
    commandTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.commandTimeoutMs, {
      env: 'CATRACA_REDIS_COMMAND_TIMEOUT_MS',
      description:
        'Time limit for a whole call. After it a read fails, and a write is reported with an unknown outcome.',
    }),
    password: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_REDIS_PASSWORD',
      description: 'Password of the servers. It wins over a password in the store URL.',
    }),
    poolSize: setting(integer(1, 100), DEFAULT_REDIS.poolSize, {
      env: 'CATRACA_REDIS_POOL_SIZE',
      description: 'Connections to each primary.',
    }),
    waitReplicas: setting(integer(0, 10), 0, {
      env: 'CATRACA_REDIS_WAIT_REPLICAS',
      description:
        'Replicas that must have received a write before it is acknowledged (WAIT). A failover is then less likely to lose it.',
    }),
    waitTimeoutMs: setting(integer(1, HOUR_MS), 1000, {
      env: 'CATRACA_REDIS_WAIT_TIMEOUT_MS',
      description:
        'How long to wait for those replicas. After it the write is reported with an unknown outcome.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_REDIS.maxLogBytes, {
      env: 'CATRACA_REDIS_MAX_LOG_BYTES',
      description:
        'Size of the change log that is kept of each shard of a list. A process that falls further behind reloads the list.',
    }),
    shardAbove: setting(integer(1000, 1_000_000_000), DEFAULT_REDIS.shardAbove, {
      env: 'CATRACA_REDIS_SHARD_ABOVE',
      description: 'Customers that one shard of a list holds. A larger list is split into more shards.',
    }),
    tlsCaFile: optional(text, {
      env: 'CATRACA_REDIS_TLS_CA_FILE',
      description: 'PEM file of the authority that signed the certificates of the servers.',
    }),
    tlsServerName: optional(text, {
      env: 'CATRACA_REDIS_TLS_SERVER_NAME',
      description: 'Host name in the certificates of the servers, when it differs from the host of the URL.',
    }),
  },
  dynamodb: {
    topicArn: optional(text, {
      env: 'CATRACA_DYNAMODB_TOPIC_ARN',
      flag: '--topic',
      description: 'SNS topic that notifies pods of changes at once. Without it pods poll the change logs.',
    }),
    probeIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_DYNAMODB.probeIntervalMs, {
      env: 'CATRACA_DYNAMODB_PROBE_INTERVAL_MS',
      description:
        'How often the pods together measure how far the change logs are behind the table. 0: the logs are trusted to be complete.',
    }),
    daxEndpoint: optional(text, {
      env: 'CATRACA_DYNAMODB_DAX_ENDPOINT',
      description:
        'DAX cluster, as `dax://…` or `daxs://…`, for reads that confirm memberships, except strong checks. It needs the package `@amazon-dax-sdk/client-dax`.',
    }),
    hotTier: secret<string | undefined>(redisUrl as Kind<string | undefined>, undefined, {
      env: 'CATRACA_DYNAMODB_HOT_TIER',
      description:
        'Redis that caches the members of `dynamodb.hotLists`, so that servers confirm them without a request to DynamoDB. Its database must hold no other store.',
    }),
    hotLists: optional(listIds, {
      env: 'CATRACA_DYNAMODB_HOT_LISTS',
      description: 'Allowlists whose members are cached in `dynamodb.hotTier`.',
    }),
    readTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.readTimeoutMs, {
      env: 'CATRACA_DYNAMODB_READ_TIMEOUT_MS',
      description: 'Time limit for a read, retries included.',
    }),
    writeTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.writeTimeoutMs, {
      env: 'CATRACA_DYNAMODB_WRITE_TIMEOUT_MS',
      description:
        'Time limit for a write, retries included. After it the write is reported with an unknown outcome.',
    }),
    idempotencyReadFirst: setting(
      choice(['auto', 'always', 'never']),
      DEFAULT_DYNAMODB.idempotencyReadFirst,
      {
        env: 'CATRACA_DYNAMODB_IDEMPOTENCY_READ_FIRST',
        description:
          'Whether an idempotency record is read before it is claimed. A claim that finds a large record costs much more than a read. `auto`: when recent claims cost more than reads would have.',
      },
    ),
    revalidateAfterMs: setting(integer(10, HOUR_MS), DEFAULT_DYNAMODB.revalidateAfterMs, {
      env: 'CATRACA_DYNAMODB_REVALIDATE_AFTER_MS',
      description:
        'The cached record of a list (rule, generation, shards) is refreshed in the background when it is used and is this old.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_DYNAMODB.staleAfterMs, {
      env: 'CATRACA_DYNAMODB_STALE_AFTER_MS',
      description:
        'A cached record of a list that is older is read again before it is used. Must be the same in all processes that use the table.',
    }),
    tenShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.tenShardsAbove, {
      env: 'CATRACA_DYNAMODB_TEN_SHARDS_ABOVE',
      description: 'A list with more customers is split into 10 shards.',
    }),
    fiftyShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.fiftyShardsAbove, {
      env: 'CATRACA_DYNAMODB_FIFTY_SHARDS_ABOVE',
      description: 'A list with more customers is split into 50 shards.',
    }),
    giantAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.giantAbove, {
      env: 'CATRACA_DYNAMODB_GIANT_ABOVE',
      description: 'A list with more customers moves to the table for giant lists, in 100 shards.',
    }),
  },
  allowlists: {
    onUnavailable: setting(choice(['block', 'allow']), 'block', {
      env: 'CATRACA_ALLOWLISTS_ON_UNAVAILABLE',
      description:
        'What a check answers when neither memory nor the store can: an error (503), or allowed with `degraded`.',
    }),
    sweepIntervalMs: setting(integer(100, HOUR_MS), 10_000, {
      env: 'CATRACA_SWEEP_INTERVAL_MS',
      description:
        'How often the sweeper removes expired members and records, deleted lists, abandoned imports and unused limit counters.',
    }),
  },
  membership: {
    maxBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_MEMBERSHIP.maxBytes, {
      env: 'CATRACA_MEMBERSHIP_MAX_BYTES',
      description: 'Memory for the indexes of lists; the least recently used are dropped. 0: no index.',
    }),
    build: setting(choice(['auto', 'off']), DEFAULT_MEMBERSHIP.build, {
      env: 'CATRACA_MEMBERSHIP_BUILD',
      description:
        'Whether this process builds indexes when they are due (`auto`), or leaves it to other processes (`off`).',
    }),
    rebuildShare: setting(share, DEFAULT_MEMBERSHIP.rebuildShare, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_SHARE',
      description:
        'An index is rebuilt when this share of the list has changed since its last build, and at least `membership.rebuildAtLeast` customers.',
    }),
    rebuildAtLeast: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.rebuildAtLeast, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_AT_LEAST',
      description: 'Fewest changed customers that cause a rebuild, see `membership.rebuildShare`.',
    }),
    rebuildAgeMs: setting(integer(0, 365 * 24 * HOUR_MS), DEFAULT_MEMBERSHIP.rebuildAgeMs, {
      env: 'CATRACA_MEMBERSHIP_REBUILD_AGE_MS',
      description: 'An index this old is rebuilt if the list has changed.',
    }),
    maxOverlay: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.maxOverlay, {
      env: 'CATRACA_MEMBERSHIP_MAX_OVERLAY',
      description:
        'When more customers than this have changed since the snapshot, checks read the store until the index is rebuilt.',
    }),
    buildLeaseMs: setting(integer(1000, HOUR_MS), DEFAULT_MEMBERSHIP.buildLeaseMs, {
      env: 'CATRACA_MEMBERSHIP_BUILD_LEASE_MS',
      description:
        'How long a build may go without renewing its lease. After that another process may take it over.',
    }),
    verificationEntries: setting(integer(0, 100_000_000), DEFAULT_MEMBERSHIP.verificationEntries, {
      env: 'CATRACA_VERIFICATION_CACHE_ENTRIES',
      description: 'How many confirmed answers the verification cache holds.',
    }),
    verificationTtlMs: setting(integer(0, HOUR_MS), DEFAULT_MEMBERSHIP.verificationTtlMs, {
      env: 'CATRACA_VERIFICATION_CACHE_TTL_MS',
      description: 'How long the verification cache keeps a confirmed answer.',
    }),
    compareIntervalMs: setting(integer(10, HOUR_MS), DEFAULT_MEMBERSHIP.compareIntervalMs, {
      env: 'CATRACA_MEMBERSHIP_COMPARE_INTERVAL_MS',
      description: 'How often lists in memory are compared with the store.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_MEMBERSHIP.staleAfterMs, {
      env: 'CATRACA_MEMBERSHIP_STALE_AFTER_MS',
      description:
        'When the changes of a list could not be read for this long, its checks read the store instead of memory.',
    }),
    warmUpLists: setting(integer(0, 10_000), DEFAULT_MEMBERSHIP.warmUpLists, {
      env: 'CATRACA_MEMBERSHIP_WARM_UP_LISTS',
      description: 'How many lists, the most used ones, are loaded before the server reports ready.',
    }),
  },
  import: {
    leaseMs: setting(integer(1000, HOUR_MS), 15_000, {
      env: 'CATRACA_IMPORT_LEASE_MS',
      description:
        'How long an import may go without renewing its lease. After that it counts as interrupted and can be resumed.',
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
      description: 'Collect metrics, and serve them to Prometheus at `/metrics`.',
    }),
    maxSeries: setting(integer(0, 10_000), DEFAULT_MAX_SERIES, {
      env: 'CATRACA_METRICS_MAX_SERIES',
      description:
        'How many lists, resources and cache spaces have their own label value, of each. Later ones count as `other`.',
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
        'Create spans when an OpenTelemetry provider is registered in the process. Without a provider there are no spans and no cost.',
    }),
  },
  client: {
    url: optional(httpUrl, {
      env: 'CATRACA_URL',
      flag: '--url',
      description: 'Server that the commands call, instead of opening the store.',
    }),
    key: secret<string | undefined>(text as Kind<string | undefined>, undefined, {
      env: 'CATRACA_KEY',
      description: 'API key that the commands present to that server.',
    }),
  },
  debug: setting(flag, false, {
    env: 'CATRACA_DEBUG',
    description: 'Print the stack when a command fails.',
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
