import { DEFAULT_MAX_SERIES } from '../core/figures.js'
import { LOG_LEVELS } from '../core/log-levels.js'
import { DEFAULT_SWEEP_INTERVAL_MS } from '../core/timers.js'
import { DEFAULT_DYNAMODB, DYNAMODB_PROFILE_NAMES } from '../engines/dynamodb/defaults.js'
import { DEFAULT_EMBEDDED } from '../engines/embedded/defaults.js'
import { DEFAULT_REDIS } from '../engines/redis/defaults.js'
import { DEFAULT_STORE } from '../engines/registry.js'
import { SIGN_IN_DEFAULTS } from '../guards/access/sign-in-options.js'
import { DEFAULT_LAST_KNOWN } from '../guards/allowlist/last-known/options.js'
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
  exposedFlags,
  flag,
  httpUrl,
  integer,
  type Kind,
  limitSplits,
  listIds,
  redisUrl,
  redisUrls,
  resourceName,
  roles,
  rules,
  share,
  storeUrl,
  text,
  urlPath,
} from './value-kinds.js'

/** One setting: everything that the loader, the command line and the reference page need. */
export interface Setting<T> {
  readonly setting: true
  // biome-ignore lint/suspicious/noExplicitAny: a kind both takes and gives its type, so no other bound fits all.
  readonly kind: Kind<any>
  readonly default: T
  /** The environment variable, where its name does not follow from the path. */
  readonly env?: string
  /** The command line option that sets it. */
  readonly flag?: string
  readonly description: string
  /** Also read from the file that `ENV_FILE` names, or `pathFile` in the configuration file. */
  readonly secret: boolean
}

/** A setting with the name of its environment variable. */
export type NamedSetting = Setting<unknown> & { readonly env: string }

interface Facts {
  env?: string
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

/** A secret text that may be absent. */
const secretText = (facts: Facts) =>
  secret<string | undefined>(text as Kind<string | undefined>, undefined, facts)

/** Where the data of one capability is. */
const storeOf = (what: string, more = '', otherwise = '`store`') =>
  optional(storeUrl, {
    description: `Where ${what}, when elsewhere than ${otherwise}${more}. \`--store\` wins over it.`,
  })

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000

/** The shape of this table is the shape of the configuration file. */
export const SCHEMA = {
  store: setting(storeUrl, DEFAULT_STORE, {
    flag: '--store',
    description: 'Where the data is. Relative directories start at the working directory.',
  }),
  stores: {
    allowlists: storeOf('allowlists and API keys are'),
    limits: storeOf('rate limits are'),
    idempotency: storeOf('idempotency records are'),
    codes: storeOf(
      'one-time codes are',
      '; `codes.pepper` is then required to start. Their attempt counters are stored with the rate limits',
    ),
    tokens: storeOf('revoked tokens are'),
    locks: storeOf('locks are'),
    cache: storeOf('the second tier of caches is'),
    audit: storeOf('the audit trail is', '', 'the allowlists'),
  },
  server: {
    host: setting(text, '127.0.0.1', {
      flag: '--host',
      description: 'Address to listen on. Without any API key only a loopback address is accepted.',
    }),
    port: setting(integer(0, 65_535), 8080, {
      flag: '--port',
      description: 'Port to listen on; 0 means any free port.',
    }),
    workers: setting(integer(1, 256), 1, {
      flag: '--workers',
      description:
        'Worker processes that serve the port. More than one needs a store that processes can share.',
    }),
    bodyLimitBytes: setting(integer(1024, 1024 * MIB), MIB, {
      description:
        'Largest body of a request that holds values or many ids; of the others it is at most 64 KiB. Imports are streams and have no limit.',
    }),
    bodyLimitValues: setting(integer(1000, 100_000_000), 20_000, {
      description:
        'Most values in the body of a request, counting objects, lists and what is in them. What a body costs the server depends on it more than on bytes.',
    }),
    bodiesLimitBytes: setting(integer(1024, 1024 * 1024 * MIB), 64 * MIB, {
      description:
        'Bytes of request bodies in flight, over all connections. A body that does not fit is refused (503). At least `bodyLimitBytes`.',
    }),
    transferTimeoutMs: setting(integer(100, HOUR_MS), 30_000, {
      description:
        'Time limit for receiving the headers of a request, and then its body; imports may take longer. Also how long a client may leave a response unread.',
    }),
    maxConnections: optional(integer(1, 1_000_000), {
      description:
        'Open connections of each worker; further ones are closed at once. When absent: what the file descriptor limit leaves after the needs of the stores, at most 10000.',
    }),
    maxInFlightPerConnection: setting(integer(1, 10_000), 8, {
      description: 'Requests of one connection that are handled at the same time, when the client pipelines.',
    }),
    checkFastPath: setting(choice(['connection', 'off']), 'connection', {
      description:
        'How hot operations (checks, acquires, locks and the like) are answered: `connection` on the raw connection, `off` by the framework like all other requests. The responses are the same.',
    }),
    shutdownTimeoutMs: setting(integer(0, HOUR_MS), 10_000, {
      description:
        'Time limit for stopping. The server finishes requests in flight, then closes the stores, which get at least a second. A store that is not closed by then is abandoned. Also for `catraca relay`.',
    }),
    accessLogSampling: setting(share, 0.01, {
      description: 'Share of answered requests that are logged. Server errors are always logged.',
    }),
    logLevel: setting(choice(LOG_LEVELS), 'info', {
      description: 'Lowest severity that is logged.',
    }),
    logCustomerIds: setting(flag, false, {
      description: 'Log customer ids as they are, instead of hashed.',
    }),
    logHashKey: secretText({
      description:
        'Key for hashing customer ids in the log. Use the same key on all servers to follow a customer across them. Random when absent.',
    }),
    tlsCert: secretText({
      description: 'Certificate chain of the server, PEM. When set, the server accepts only HTTPS.',
    }),
    tlsKey: secretText({
      description: 'Private key of the server certificate, PEM.',
    }),
    tlsClientCa: secretText({
      description:
        'Certificate authorities of clients, PEM. When set, a client needs a certificate that one of them signed, in addition to its API key.',
    }),
    spoolDir: optional(text, {
      description: 'Directory for the bodies of asynchronous imports; the temporary directory when absent.',
    }),
  },
  keys: secret<readonly BootstrapKey[]>(apiKeys, [], {
    description:
      'API keys, by hash, that are valid in addition to those in the store. `catraca key generate` makes an entry.',
  }),
  access: {
    maxStaleMs: setting(integer(1000, 24 * HOUR_MS), 5000, {
      description:
        'How long API keys of the store are trusted while it does not answer. A key that is revoked during that time keeps working until then. `/health` and `/metrics` accept them for 15 minutes.',
    }),
    diskCopy: setting(flag, false, {
      description:
        'Whether the hashes of stored API keys are kept in `allowlists.diskCopy` too, so that a server that starts while its store is away knows them. `access.maxStaleMs` counts from when they were read.',
    }),
  },
  oidc: {
    issuer: optional(httpUrl, {
      description:
        'Address of the OpenID Connect provider with whom people sign in to the console. When set, every call needs an API key or a session. https, or http on this machine.',
    }),
    clientId: optional(text, { description: 'Id of this server at the provider.' }),
    clientSecret: secretText({
      description:
        'Secret of this server at the provider. Without one it is a public client, which PKCE protects.',
    }),
    clientAuth: setting(choice(['client_secret_basic', 'client_secret_post']), SIGN_IN_DEFAULTS.clientAuth, {
      description: 'How the secret is sent to the provider: in a header or in the body.',
    }),
    baseUrl: optional(httpUrl, {
      description:
        'Origin of this server as browsers see it, such as `https://catraca.example.com`. The provider must know `<baseUrl>/sign-in/callback` and, for signing out, `<baseUrl>/console`.',
    }),
    secret: secretText({
      description:
        'Secret of at least 32 characters, the same on every process. It encrypts the tokens of the provider and signs the cookies; a new one ends all sessions.',
    }),
    roles: setting(roles, [], {
      description:
        'What people may do, by their groups at the provider; `*` as a group means everybody. With `lists` or `resources` a role reaches only these; a `*` at the end of a name stands for any ending.',
    }),
    groupsClaim: setting(text, SIGN_IN_DEFAULTS.groupsClaim, {
      description:
        'The claim that holds the groups: a name, or a path with dots such as `realm_access.roles`.',
    }),
    nameClaim: setting(text, SIGN_IN_DEFAULTS.nameClaim, {
      description:
        'The claim by which the audit trail and the console name a person. Without it, or with an e-mail that is not verified: the subject.',
    }),
    scopes: setting(text, SIGN_IN_DEFAULTS.scopes, {
      description:
        'Scopes that the provider is asked for, separated by spaces. `offline_access` makes most providers give a refresh token, without which people must sign in again every few minutes.',
    }),
    prompt: optional(text, {
      description:
        'The `prompt` that is sent to the provider. `consent` where it gives a refresh token only then.',
    }),
    label: optional(text, {
      description: 'What the console calls the provider on its button, such as `Example Corp`.',
    }),
    sessionMs: setting(integer(60_000, 30 * 24 * HOUR_MS), SIGN_IN_DEFAULTS.sessionMs, {
      description: 'How long a session lasts at most.',
    }),
    idleMs: setting(integer(60_000, 30 * 24 * HOUR_MS), SIGN_IN_DEFAULTS.idleMs, {
      description: 'A session that is not used for this long ends. An open page of the console uses it.',
    }),
    confirmMs: setting(integer(1000, SIGN_IN_DEFAULTS.confirmMs), SIGN_IN_DEFAULTS.confirmMs, {
      description:
        'After this time, or the life of the access token if that is shorter, the provider is asked whether the person is still there.',
    }),
    providerAwayMs: setting(integer(0, 24 * HOUR_MS), SIGN_IN_DEFAULTS.providerAwayMs, {
      description:
        'How much longer a session goes on while the provider does not answer. Somebody who is removed during that time stays in until then.',
    }),
    sessionsPerPerson: setting(integer(1, 100), SIGN_IN_DEFAULTS.sessionsPerPerson, {
      description:
        'Sessions of one person at the same time; a further one ends the one that was used least recently.',
    }),
    clockToleranceSeconds: setting(integer(0, 300), SIGN_IN_DEFAULTS.clockToleranceSeconds, {
      description: 'How far the clocks of the provider and of this server may differ.',
    }),
    timeoutMs: setting(integer(100, 60_000), SIGN_IN_DEFAULTS.timeoutMs, {
      description: 'Time limit for each call to the provider.',
    }),
  },
  embedded: {
    durability: setting(choice(['disk', 'process']), DEFAULT_EMBEDDED.durability, {
      description:
        'What an acknowledged write survives: a power loss (`disk`), or only the death of the process such as kill -9 (`process`).',
    }),
    limitsDurability: setting(choice(['process', 'disk']), DEFAULT_EMBEDDED.limitsDurability, {
      description:
        'The same for the counters of rate limits. With `process` they are lost when the system restarts.',
    }),
    maxSizeBytes: optional(integer(MIB, 1024 * 1024 * 1024 * MIB), {
      description:
        'Size at which the data takes nothing more; as large as the disk when absent. The file may be larger by what was freed in it.',
    }),
    minFreeBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.minFreeBytes, {
      description: 'Writes are refused when less than this is free on the disk.',
    }),
    writeTimeoutMs: setting(integer(10, HOUR_MS), DEFAULT_EMBEDDED.writeTimeoutMs, {
      description: 'A write that takes longer is reported with an unknown outcome.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_EMBEDDED.maxLogBytes, {
      description:
        'Size of the change log that is kept of each list. A process that falls further behind reloads the list.',
    }),
    cacheMaxBytes: setting(integer(MIB, 1024 * 1024 * MIB), DEFAULT_EMBEDDED.cacheMaxBytes, {
      description: 'Bytes of cache entries on the disk. Above this, entries are evicted.',
    }),
  },
  limits: {
    configCacheMs: setting(integer(0, HOUR_MS), DEFAULT_LIMITS.configCacheMs, {
      description: 'How long a configuration of limits, or its absence, is cached in memory.',
    }),
    configCacheEntries: setting(integer(1, 100_000_000), DEFAULT_LIMITS.configCacheEntries, {
      description: 'How many configurations of limits are cached in memory.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_LIMITS.timeoutMs, {
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow', 'local']), 'block', {
      description:
        'What an acquire does when the store is unavailable and no level of the limit configuration says it: deny with an error (503), let pass, or decide in this process by `limits.localShare`.',
    }),
    localShare: setting(share, DEFAULT_LIMITS.localShare, {
      description:
        'With `local`: the part of each limit that each process admits by itself while the store is away. With n processes, 1/n keeps the whole limit.',
    }),
    inline: setting(choice(['never', 'tighten', 'any']), 'never', {
      description:
        'What `limits` in a request to the server may do. `never`: they are refused. `tighten`: they apply in addition to the configured limits. `any`: they override the configured limits.',
    }),
    leaseMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_LIMITS.leaseMs, {
      description: 'How long a lease can be adjusted or given back.',
    }),
    leaseSecret: secretText({
      description:
        'Secret that encrypts lease ids, read once at the start. When absent, one is generated and kept in the store.',
    }),
    localLeaseTokens: setting(integer(0, 1_000_000_000), 0, {
      description:
        'Tokens of each limit that a process takes from the store in advance, to decide in memory; 0: none.',
    }),
    localLeaseMs: setting(integer(10, HOUR_MS), 1000, {
      description:
        'How long a process may hold the tokens of `limits.localLeaseTokens`. Unused ones are then returned to the store.',
    }),
    usageFlushMs: setting(integer(100, HOUR_MS), DEFAULT_LIMITS.usageFlushMs, {
      description: 'How often usage (cost admitted and denied) is written to the store.',
    }),
    usage: setting(flag, DEFAULT_LIMITS.usage, {
      description: 'Whether usage (cost admitted and denied) is counted, by resource and hour.',
    }),
    usageEntities: setting(integer(0, 100), DEFAULT_LIMITS.usageEntities, {
      description:
        'How many entities, the heaviest, usage counts separately for each resource and hour; 0: only totals. The store holds at most twice as many.',
    }),
    usageRetentionDays: setting(integer(1, 400), DEFAULT_LIMITS.usageRetentionMs / (24 * HOUR_MS), {
      description: 'How long usage is kept.',
    }),
  },
  idempotency: {
    naming: setting(choice(['operation', 'bare']), DEFAULT_IDEMPOTENCY.naming, {
      description:
        '`operation`: one record for each operation and key. `bare`: one record for each key; the same key with another operation is then refused as another request (422).',
    }),
    lifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.lifeMs, {
      description: 'How long a record is kept when the request does not set it.',
    }),
    minLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.minLifeMs, {
      description: 'Shortest life that `Idempotency-Expiry-Seconds` may request; a shorter one is refused.',
    }),
    maxLifeMs: setting(integer(1000, 365 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxLifeMs, {
      description: 'Longest life that `Idempotency-Expiry-Seconds` may request; a longer one is refused.',
    }),
    leaseMs: setting(integer(MIN_LEASE_MS, MAX_LEASE_MS), DEFAULT_IDEMPOTENCY.leaseMs, {
      description:
        'How long a claim is held without being extended. Then it has expired, see `idempotency.onLeaseExpired`.',
    }),
    onLeaseExpired: setting(choice(['reclaim', 'unknown']), DEFAULT_IDEMPOTENCY.onLeaseExpired, {
      description:
        'What happens to an expired claim. `reclaim`: the next request takes it over. `unknown`: requests get an error (409), and the work is not executed again.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_IDEMPOTENCY.timeoutMs, {
      description: 'A store that has not decided by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_IDEMPOTENCY.onUnavailable, {
      description:
        'When the store is unavailable: `run` and the adapters fail (`block`), or execute the request without any guarantee (`allow`). Over HTTP a claim always fails.',
    }),
    maxResponseBytes: setting(integer(0, 16 * MIB), DEFAULT_IDEMPOTENCY.maxResponseBytes, {
      description:
        'Largest response that is stored, measured as stored (compressed above 10 KB). Of a larger response only its size is recorded.',
    }),
    maxWorkMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_IDEMPOTENCY.maxWorkMs, {
      description:
        'Work that takes longer is aborted by its signal, and loses its claim when the lease expires.',
    }),
  },
  tokens: {
    compareIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_TOKENS.compareIntervalMs, {
      description:
        'How often the revoked tokens in memory are compared with the store. 0: memory holds none, and every check reads the store.',
    }),
    staleAfterMs: setting(integer(20, HOUR_MS), DEFAULT_TOKENS.staleAfterMs, {
      description: 'When memory has not been confirmed as complete for this long, checks read the store.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_TOKENS.timeoutMs, {
      description: 'A store that has not answered by then counts as unavailable.',
    }),
    onUnavailable: setting(choice(['block', 'allow']), DEFAULT_TOKENS.onUnavailable, {
      description:
        'What a check answers when neither memory nor the store can: an error (503), or not revoked with `degraded`.',
    }),
    maxEntries: setting(integer(1, 1_000_000_000), DEFAULT_TOKENS.maxEntries, {
      description:
        'With so many unexpired revocations in memory, further ones are refused (507). A million takes some 20 MB of memory.',
    }),
  },
  codes: {
    pepper: secretText({
      env: 'CATRACA_OTP_PEPPER',
      description:
        'Secret for hashing one-time codes, the same for all processes. When absent, `embedded:` and `memory:` stores generate and keep one. With any other store the server refuses to start without it if codes are used (`codes.required`, `stores.codes`, or a key in `CATRACA_KEYS` that may issue or verify codes); otherwise calls for codes are refused (503, `CODES_NOT_SET_UP`).',
    }),
    previousPepper: secretText({
      env: 'CATRACA_OTP_PEPPER_PREVIOUS',
      description: 'The previous pepper: codes that were issued with it still work.',
    }),
    required: setting(flag, false, {
      description: 'Refuse to start when one-time codes cannot be used, instead of refusing their calls.',
    }),
    digits: setting(integer(4, 12), DEFAULT_CODES.digits, {
      description: 'Digits of a code.',
    }),
    emailLifeMs: setting(integer(1000, 24 * HOUR_MS), DEFAULT_CODES.lifeMs.email, {
      description: 'How long a code that is sent by e-mail can be used.',
    }),
    phoneLifeMs: setting(integer(1000, 24 * HOUR_MS), DEFAULT_CODES.lifeMs.phone, {
      description: 'How long a code that is sent to a phone can be used.',
    }),
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_CODES.timeoutMs, {
      description:
        'A store that has not decided by then counts as unavailable: no code is issued, and no code is accepted.',
    }),
  },
  locks: {
    timeoutMs: setting(integer(1, HOUR_MS), DEFAULT_LOCKS.timeoutMs, {
      description: 'A store that has not decided about a lock by then counts as unavailable.',
    }),
    redlock: secret<readonly string[]>(redisUrls, [], {
      description:
        'Three or more independent Redis servers that grant locks by majority (Redlock), instead of a store. Such locks have no fencing numbers. Read once at the start.',
    }),
  },
  cache: {
    spaces: setting(cacheSpaces, [], {
      description:
        'Cache spaces that HTTP and the command line can use. All fields but `name` and `ttlMs` have [defaults](../cache.md#options).',
    }),
    timeoutMs: setting(integer(1, 60_000), DEFAULT_SPACE.timeoutMs, {
      description:
        'A store that takes longer counts as down: the cache continues without it (see docs/cache.md).',
    }),
  },
  audit: {
    enabled: setting(flag, DEFAULT_AUDIT.enabled, {
      description: 'Whether changes of lists, limits and keys are recorded with who made them.',
    }),
    retentionDays: setting(integer(1, MAX_RETENTION_DAYS), DEFAULT_AUDIT.retentionDays, {
      description: 'How long entries are kept. Older entries are hidden, then deleted.',
    }),
    members: setting(flag, DEFAULT_AUDIT.members, {
      description:
        'Whether the addition and removal of single members is recorded. Imports are always recorded.',
    }),
    onFailure: setting(choice(['report', 'fail']), DEFAULT_AUDIT.onFailure, {
      description:
        'When a change was made but its audit entry cannot be written: log and count the failure (`report`), or return an error to the caller (`fail`).',
    }),
  },
  fleet: {
    enabled: setting(flag, true, {
      description:
        'Whether servers announce themselves in the store of the allowlists, so that `GET /fleet` and the console show all of them. Off: nothing is written, and nobody is asked.',
    }),
    name: optional(text, {
      description: 'The name under which the others see this server; default: that of the machine or pod.',
    }),
  },
  redis: {
    idempotencyNaming: setting(choice(['operation', 'bare']), DEFAULT_REDIS.idempotencyNaming, {
      description:
        'The same as `idempotency.naming`, which may be given instead. Redis keys are `bridge:idempotency:OPERATION:KEY`; with `bare`, without the operation.',
    }),
    connectTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.connectTimeoutMs, {
      description: 'Time limit for connecting, handshake included.',
    }),
    commandTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_REDIS.commandTimeoutMs, {
      description:
        'Time limit for a whole call. After it a read fails, and a write is reported with an unknown outcome.',
    }),
    password: secretText({
      description: 'Password of the servers. It wins over a password in the store URL.',
    }),
    poolSize: setting(integer(1, 100), DEFAULT_REDIS.poolSize, {
      description: 'Connections to each primary.',
    }),
    waitReplicas: setting(integer(0, 10), 0, {
      description:
        'Replicas that must have received a write before it is acknowledged (WAIT). A failover is then less likely to lose it.',
    }),
    waitTimeoutMs: setting(integer(1, HOUR_MS), 1000, {
      description:
        'How long to wait for those replicas. After it the write is reported with an unknown outcome.',
    }),
    confirmFrom: setting(choice(['primary', 'replica']), DEFAULT_REDIS.confirmFrom, {
      description:
        'Who confirms memberships of lists in memory. `replica`: a replica that has all changes up to the list in memory, otherwise the primary, so answers are never older than memory. Everything else is read from primaries.',
    }),
    maxLogBytes: setting(integer(1024, 1024 * MIB), DEFAULT_REDIS.maxLogBytes, {
      description:
        'Size of the change log that is kept of each shard of a list. A process that falls further behind reloads the list.',
    }),
    shardAbove: setting(integer(1000, 1_000_000_000), DEFAULT_REDIS.shardAbove, {
      description: 'Customers that one shard of a list holds. A larger list is split into more shards.',
    }),
    tlsCaFile: optional(text, {
      description: 'PEM file of the authority that signed the certificates of the servers.',
    }),
    tlsServerName: optional(text, {
      description: 'Host name in the certificates of the servers, when it differs from the host of the URL.',
    }),
  },
  dynamodb: {
    topicArn: optional(text, {
      flag: '--topic',
      description: 'SNS topic that notifies pods of changes at once. Without it pods poll the change logs.',
    }),
    probeIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_DYNAMODB.probeIntervalMs, {
      description:
        'How often the pods together measure how far the change logs are behind the table. 0: the logs are trusted to be complete.',
    }),
    profile: setting(choice(DYNAMODB_PROFILE_NAMES), 'default', {
      description:
        'Between cost and delay: the defaults of `dynamodb.revalidateAfterMs`, `dynamodb.staleAfterMs`, `dynamodb.probeIntervalMs`, `dynamodb.shareIntervalMs`, `dynamodb.logBatchMs`, `membership.compareIntervalMs` and `membership.staleAfterMs`. Must be the same in all processes that use the table. [Costs](../cost.md#profiles) has the values.',
    }),
    shareIntervalMs: setting(integer(0, HOUR_MS), DEFAULT_DYNAMODB.shareIntervalMs, {
      description:
        'How often one process reads lists and their change logs for all others. 0: every process reads for itself.',
    }),
    logBatchMs: setting(integer(0, HOUR_MS), DEFAULT_DYNAMODB.logBatchMs, {
      description:
        'How long `catraca relay` collects changes after it has written some, so that fewer log entries have to be paid.',
    }),
    daxEndpoint: optional(text, {
      description:
        'DAX cluster, as `dax://…` or `daxs://…`, for reads that confirm memberships, except strong checks. It needs the package `@amazon-dax-sdk/client-dax`.',
    }),
    hotTier: secret<string | undefined>(redisUrl as Kind<string | undefined>, undefined, {
      description:
        'Redis that caches the members of `dynamodb.hotLists`, so that servers confirm them without a request to DynamoDB. Its database must hold no other store.',
    }),
    hotLists: optional(listIds, {
      description: 'Allowlists whose members are cached in `dynamodb.hotTier`.',
    }),
    readTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.readTimeoutMs, {
      description: 'Time limit for a read, retries included.',
    }),
    writeTimeoutMs: setting(integer(1, HOUR_MS), DEFAULT_DYNAMODB.writeTimeoutMs, {
      description:
        'Time limit for a write, retries included. After it the write is reported with an unknown outcome.',
    }),
    idempotencyReadFirst: setting(
      choice(['auto', 'always', 'never']),
      DEFAULT_DYNAMODB.idempotencyReadFirst,
      {
        description:
          'Whether an idempotency record is read before it is claimed. A claim that finds a large record costs much more than a read. `auto`: when recent claims cost more than reads would have.',
      },
    ),
    splitLimits: optional(limitSplits, {
      description:
        'Rate limits that one item of DynamoDB cannot carry (about 1,000 calls a second), each with the number of items that share it. Must be the same in all processes that use the table. [Rate limits](../guides/rate-limits.md#limits-that-one-item-cannot-carry) says what to expect.',
    }),
    revalidateAfterMs: setting(integer(10, HOUR_MS), DEFAULT_DYNAMODB.revalidateAfterMs, {
      description:
        'The cached record of a list (rule, generation, shards) is refreshed in the background when it is used and is this old.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_DYNAMODB.staleAfterMs, {
      description:
        'A cached record of a list that is older is read again before it is used. Must be the same in all processes that use the table.',
    }),
    tenShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.tenShardsAbove, {
      description: 'A list with more customers is split into 10 shards.',
    }),
    fiftyShardsAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.fiftyShardsAbove, {
      description: 'A list with more customers is split into 50 shards.',
    }),
    giantAbove: setting(integer(1, 10_000_000_000), DEFAULT_DYNAMODB.giantAbove, {
      description: 'A list with more customers moves to the table for giant lists, in 100 shards.',
    }),
  },
  allowlists: {
    onUnavailable: setting(choice(['block', 'allow', 'last-known']), 'block', {
      description:
        'What a check answers when neither fresh memory nor the store can: an error (503), allowed with `degraded`, or what memory last knew, with `degraded` and `asOf`.',
    }),
    maxStalenessMs: setting(integer(1000, 31 * 24 * HOUR_MS), DEFAULT_LAST_KNOWN.maxStalenessMs, {
      description:
        'How old the memory may be from which `last-known` answers. Older memory counts as not held.',
    }),
    onNotInMemory: setting(choice(['block', 'allow']), DEFAULT_LAST_KNOWN.onNotInMemory, {
      description:
        'What a check of a list that memory does not hold answers with `last-known`: an error (503), or allowed with `degraded`.',
    }),
    diskCopy: optional(text, {
      description:
        'Directory for a copy of what memory knows, with `last-known`. A server can then start while its store is away, and answers as of the copy. Each server needs its own.',
    }),
    diskCopyMaxBytes: setting(integer(MIB, 1024 * 1024 * MIB), DEFAULT_LAST_KNOWN.maxDiskBytes, {
      description: 'Lists that would make the copy on disk larger are left out; those used last come first.',
    }),
    sweepIntervalMs: setting(integer(100, HOUR_MS), DEFAULT_SWEEP_INTERVAL_MS, {
      env: 'CATRACA_SWEEP_INTERVAL_MS',
      description:
        'How often the sweeper removes expired members and records, deleted lists, abandoned imports and unused limit counters.',
    }),
  },
  flags: {
    exposed: setting(exposedFlags, [], {
      env: 'CATRACA_FLAGS_EXPOSED',
      description:
        'The lists and waves that a bulk evaluation of feature flags (OFREP) evaluates. Single evaluations reach every list.',
    }),
    limitedBy: optional(resourceName, {
      env: 'CATRACA_FLAGS_LIMITED_BY',
      description:
        'Resource whose limits evaluations of feature flags take from, with the name of the API key as the entity. Above them they are refused (429).',
    }),
    maxStreams: setting(integer(0, 100_000), 1_000, {
      env: 'CATRACA_FLAGS_MAX_STREAMS',
      description:
        'Open event streams that tell clients of changed feature flags. 0: none, and clients are told to poll.',
    }),
    streamPath: setting(urlPath, '/ofrep/v1/events', {
      env: 'CATRACA_FLAGS_STREAM_PATH',
      description:
        'The path of the event stream as browsers reach it, where a backend in front serves it elsewhere.',
    }),
  },
  grpc: {
    port: optional(integer(0, 65_535), {
      flag: '--grpc-port',
      description:
        'Port for the gRPC services of Envoy (rate limits, authorization) and for health checks, on `server.host`; 0 means any free port. Absent: none. It needs the packages `@grpc/grpc-js` and `@grpc/proto-loader`.',
    }),
    descriptors: setting(rules, [], {
      description:
        'How descriptors of Envoy name limits, where the default does not fit; [form](../guides/sidecar.md#descriptors). The first rule that fits is used.',
    }),
    unconfigured: setting(choice(['allow', 'deny']), 'allow', {
      description: 'What becomes of a descriptor that no level configures: OK or OVER_LIMIT.',
    }),
    overrideLimit: setting(resourceName, 'requests', {
      description:
        'The limit that `limit` in a descriptor states for the call. What it may do is `limits.inline`.',
    }),
    responseHeaders: setting(flag, true, {
      description:
        'Whether answers name the headers `RateLimit`, `RateLimit-Policy` and `Retry-After`, for Envoy to add to its response.',
    }),
    routes: setting(rules, [], {
      description:
        'Which lists guard which requests of Envoy, where its context extensions do not say it; [form](../guides/sidecar.md#routes). The first rule that fits is used.',
    }),
    customer: setting(text, 'header:x-customer-id', {
      description:
        'Where the customer of a request is: `header:NAME`, or `claim:NAME` of the token that Envoy has verified.',
    }),
    unmatched: setting(choice(['allow', 'deny']), 'deny', {
      description: 'What becomes of a request that no context extension and no route describes.',
    }),
    jwtPayload: setting(text, 'jwt_payload', {
      description: 'The name of `payload_in_metadata` in the filter of Envoy that verifies tokens.',
    }),
    messageLimitBytes: setting(integer(1024, 64 * MIB), 256 * 1024, {
      description: 'Largest message of a call, after decompression.',
    }),
    maxStreams: setting(integer(1, 1_000_000), 1_000, {
      description: 'Open streams of one connection; clients wait before they open more.',
    }),
    maxCalls: setting(integer(1, 1_000_000), 10_000, {
      description: 'Open calls, over all connections; more are refused (UNAVAILABLE).',
    }),
  },
  membership: {
    maxBytes: setting(integer(0, 1024 * 1024 * MIB), DEFAULT_MEMBERSHIP.maxBytes, {
      description: 'Memory for the indexes of lists; the least recently used are dropped. 0: no index.',
    }),
    build: setting(choice(['auto', 'off']), DEFAULT_MEMBERSHIP.build, {
      description:
        'Whether this process builds indexes when they are due (`auto`), or leaves it to other processes (`off`).',
    }),
    rebuildShare: setting(share, DEFAULT_MEMBERSHIP.rebuildShare, {
      description:
        'An index is rebuilt when this share of the list has changed since its last build, and at least `membership.rebuildAtLeast` customers.',
    }),
    rebuildAtLeast: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.rebuildAtLeast, {
      description: 'Fewest changed customers that cause a rebuild, see `membership.rebuildShare`.',
    }),
    rebuildAgeMs: setting(integer(0, 365 * 24 * HOUR_MS), DEFAULT_MEMBERSHIP.rebuildAgeMs, {
      description: 'An index this old is rebuilt if the list has changed.',
    }),
    maxOverlay: setting(integer(0, 1_000_000_000), DEFAULT_MEMBERSHIP.maxOverlay, {
      description:
        'When more customers than this have changed since the snapshot, checks read the store until the index is rebuilt.',
    }),
    buildLeaseMs: setting(integer(1000, HOUR_MS), DEFAULT_MEMBERSHIP.buildLeaseMs, {
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
      description: 'How often lists in memory are compared with the store.',
    }),
    staleAfterMs: setting(integer(100, HOUR_MS), DEFAULT_MEMBERSHIP.staleAfterMs, {
      description:
        'When the changes of a list could not be read for this long, its checks read the store instead of memory.',
    }),
    warmUpLists: setting(integer(0, 10_000), DEFAULT_MEMBERSHIP.warmUpLists, {
      description: 'How many lists, the most used ones, are loaded before the server reports ready.',
    }),
  },
  import: {
    leaseMs: setting(integer(1000, HOUR_MS), 15_000, {
      description:
        'How long an import may go without renewing its lease. After that it counts as interrupted and can be resumed.',
    }),
    spoolDir: optional(text, {
      description:
        'Directory for the sorted runs of a replacing import; the temporary directory when absent.',
    }),
  },
  metrics: {
    enabled: setting(flag, true, {
      description: 'Collect metrics, and serve them to Prometheus at `/metrics`.',
    }),
    maxSeries: setting(integer(0, 10_000), DEFAULT_MAX_SERIES, {
      description:
        'How many lists, resources and cache spaces have their own label value, of each. Later ones count as `other`.',
    }),
    emf: setting(flag, false, {
      description:
        'Also write the metrics of the namespace `Allowlist/Pod` for CloudWatch to standard output, once a minute.',
    }),
  },
  tracing: {
    enabled: setting(flag, true, {
      description:
        'Create spans when an OpenTelemetry provider is registered in the process. Without a provider there are no spans and no cost.',
    }),
  },
  client: {
    url: optional(httpUrl, {
      flag: '--url',
      description: 'Server that the commands call, instead of opening the store.',
    }),
    key: secretText({
      description: 'API key that the commands present to that server.',
    }),
  },
  debug: setting(flag, false, {
    description: 'Print the stack when a command fails.',
  }),
} as const

type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : ConfigOf<S[K]>
}

/** The whole configuration, checked and frozen. */
export type Config = ConfigOf<typeof SCHEMA>

/** Every setting by its path, such as `server.port`. */
export const SETTINGS: ReadonlyMap<string, NamedSetting> = new Map(flatten(SCHEMA, ''))

function flatten(table: object, prefix: string): [string, NamedSetting][] {
  return Object.entries(table).flatMap(([name, entry]): [string, NamedSetting][] => {
    const path = prefix + name
    return isSetting(entry)
      ? [[path, { ...entry, env: entry.env ?? envOf(path) }]]
      : flatten(entry, `${path}.`)
  })
}

/** `redis.poolSize`: `CATRACA_REDIS_POOL_SIZE`. Settings of the server and of the client have the shorter names. */
function envOf(path: string): string {
  const named = path.replace(/^(server|client)\./, '').replace(/^stores\./, 'store.')
  return `CATRACA_${named
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .replaceAll('.', '_')
    .toUpperCase()}`
}

export function isSetting(entry: unknown): entry is Setting<unknown> {
  return typeof entry === 'object' && entry !== null && 'setting' in entry && entry.setting === true
}
