import { readFileSync } from 'node:fs'
import type { OpenOptions } from '../app/open-catraca.js'
import type { Config } from '../config/schema.js'
import { CatracaError } from '../core/errors.js'
import type { ServerOptions } from '../server/options.js'

const DAY_MS = 24 * 3_600_000

/** Converts the configuration into options of the library and of the server, which know nothing of its sources. */

export function openOptions(config: Config, store: string): OpenOptions {
  const { maxSizeBytes, ...embedded } = config.embedded
  return {
    store,
    embedded: { ...embedded, ...(maxSizeBytes !== undefined && { maxSizeBytes }) },
    redis: redisOptions(config),
    dynamodb: dynamodbOptions(config),
    membership: config.membership,
    limits: limitOptions(config),
    idempotency: recordOptions(config),
    codes: codeOptions(config),
    tokens: { ...config.tokens, ...(config.stores.tokens !== undefined && { store: config.stores.tokens }) },
    locks: lockOptions(config),
    cache: cacheOptions(config),
    audit: { ...config.audit, ...(config.stores.audit !== undefined && { store: config.stores.audit }) },
    onUnavailable: config.allowlists.onUnavailable,
    metrics: { enabled: config.metrics.enabled, maxSeries: config.metrics.maxSeries },
    tracing: config.tracing,
    sweepIntervalMs: config.allowlists.sweepIntervalMs,
    import: {
      leaseMs: config.import.leaseMs,
      ...(config.import.spoolDir !== undefined && { spoolDir: config.import.spoolDir }),
    },
  }
}

function limitOptions({ limits, stores }: Config): NonNullable<OpenOptions['limits']> {
  const {
    leaseSecret,
    onUnavailable,
    localLeaseTokens,
    localLeaseMs,
    usageRetentionDays,
    inline: _,
    ...options
  } = limits
  const secret = leaseSecret.read()
  return {
    ...options,
    defaults: { onUnavailable },
    ...(secret !== undefined && { leaseSecret: secret }),
    usageRetentionMs: usageRetentionDays * DAY_MS,
    ...(localLeaseTokens > 0 && { localLease: { tokens: localLeaseTokens, ms: localLeaseMs } }),
    ...(stores.limits !== undefined && { store: stores.limits }),
  }
}

function recordOptions({ idempotency, stores }: Config): NonNullable<OpenOptions['idempotency']> {
  return { ...idempotency, ...(stores.idempotency !== undefined && { store: stores.idempotency }) }
}

/** Secrets are read each time they are needed, because their files may change. */
function codeOptions({ codes, stores }: Config): NonNullable<OpenOptions['codes']> {
  const { pepper, previousPepper, required: _, emailLifeMs, phoneLifeMs, ...options } = codes
  return {
    ...options,
    lifeMs: { email: emailLifeMs, phone: phoneLifeMs },
    pepper: () => pepper.read(),
    previousPepper: () => previousPepper.read(),
    // A command that does not use codes must not fail without a pepper.
    required: false,
    ...(stores.codes !== undefined && { store: stores.codes }),
  }
}

function lockOptions({ locks, stores }: Config): NonNullable<OpenOptions['locks']> {
  const { redlock, ...options } = locks
  return {
    ...options,
    redlock: redlock.read(),
    ...(stores.locks !== undefined && { store: stores.locks }),
  }
}

function cacheOptions({ cache, stores }: Config): NonNullable<OpenOptions['cache']> {
  return { ...cache, ...(stores.cache !== undefined && { store: stores.cache }) }
}

/** Whether one-time codes are in use: required, with their own store, or with an API key that may call them. */
export function usesCodes({ codes, stores, keys }: Config): boolean {
  const mayCall = keys.read().some(({ scopes }) => scopes.some((scope) => scope.startsWith('codes:')))
  return codes.required || stores.codes !== undefined || mayCall
}

/** Options for a server, which runs long enough for background work. */
export function servingOptions(config: Config, store: string): OpenOptions {
  const given = openOptions(config, store)
  const required = usesCodes(config)
  const actor = { kind: 'library', name: 'server' } as const
  const options = { ...given, codes: { ...given.codes, required }, audit: { ...given.audit, actor } }
  const { hotTier, hotLists = [] } = config.dynamodb
  const url = hotTier.read()
  if (url === undefined && hotLists.length > 0) {
    throw new CatracaError('CONFIG_INVALID', 'dynamodb.hotLists needs dynamodb.hotTier')
  }
  if (url === undefined) return options
  const { connectTimeoutMs, commandTimeoutMs, poolSize } = config.redis
  const redis = { connectTimeoutMs, commandTimeoutMs, poolSize, tls: redisTls(config) }
  const tier = { url, readUrl: () => hotTier.read() ?? url, lists: hotLists, redis }
  return { ...options, dynamodb: { ...options.dynamodb, hotTier: tier } }
}

function redisOptions(config: Config): NonNullable<OpenOptions['redis']> {
  const { password, waitReplicas, waitTimeoutMs, tlsCaFile: _, tlsServerName: __, ...rest } = config.redis
  return {
    ...rest,
    readPassword: () => password.read(),
    ...(waitReplicas > 0 && { waitReplicas: { replicas: waitReplicas, timeoutMs: waitTimeoutMs } }),
    tls: redisTls(config),
  }
}

function redisTls({ redis: { tlsCaFile, tlsServerName } }: Config) {
  return {
    ...(tlsCaFile !== undefined && { ca: readCertificate(tlsCaFile) }),
    ...(tlsServerName !== undefined && { servername: tlsServerName }),
  }
}

function dynamodbOptions({ dynamodb }: Config): NonNullable<OpenOptions['dynamodb']> {
  const { topicArn, daxEndpoint, hotTier: _, hotLists: __, ...others } = dynamodb
  const { tenShardsAbove, fiftyShardsAbove, giantAbove, ...rest } = others
  return {
    ...rest,
    ...(topicArn !== undefined && { topicArn }),
    ...(daxEndpoint !== undefined && { daxEndpoint }),
    sizes: [
      { upTo: tenShardsAbove, shardCount: 1, giant: false },
      { upTo: fiftyShardsAbove, shardCount: 10, giant: false },
      { upTo: giantAbove, shardCount: 50, giant: false },
      { upTo: Number.POSITIVE_INFINITY, shardCount: 100, giant: true },
    ],
  }
}

function readCertificate(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CatracaError('CONFIG_INVALID', `redis.tlsCaFile cannot be read: ${file}`, { cause: error })
  }
}

export function serverOptions({ server, keys, access, metrics, limits }: Config): ServerOptions {
  const logHashKey = server.logHashKey.read()
  const tls = tlsSource(server)
  return {
    host: server.host,
    port: server.port,
    bodyLimitBytes: server.bodyLimitBytes,
    bodyLimitValues: server.bodyLimitValues,
    bodiesLimitBytes: server.bodiesLimitBytes,
    transferTimeoutMs: server.transferTimeoutMs,
    maxInFlightPerConnection: server.maxInFlightPerConnection,
    checkFastPath: server.checkFastPath,
    ...(server.maxConnections !== undefined && { maxConnections: server.maxConnections }),
    shutdownTimeoutMs: server.shutdownTimeoutMs,
    accessLogSampling: server.accessLogSampling,
    logCustomerIds: server.logCustomerIds,
    bootstrapKeys: () => keys.read(),
    keyMaxStaleMs: access.maxStaleMs,
    metrics: metrics.enabled,
    inlineLimits: limits.inline,
    ...(logHashKey !== undefined && { logHashKey }),
    ...(tls !== undefined && { tls }),
    ...(server.spoolDir !== undefined && { spoolDir: server.spoolDir }),
  }
}

function tlsSource({ tlsCert, tlsKey, tlsClientCa }: Config['server']): ServerOptions['tls'] {
  const hasCert = tlsCert.read() !== undefined
  if (hasCert !== (tlsKey.read() !== undefined)) {
    throw new CatracaError('CONFIG_INVALID', 'server.tlsCert and server.tlsKey go together')
  }
  if (!hasCert && tlsClientCa.read() !== undefined) {
    throw new CatracaError('CONFIG_INVALID', 'server.tlsClientCa needs server.tlsCert')
  }
  if (!hasCert) return undefined
  return () => ({ cert: tlsCert.read()!, key: tlsKey.read()!, clientCa: tlsClientCa.read() })
}
