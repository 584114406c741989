import { readFileSync } from 'node:fs'
import type { OpenOptions } from '../app/open-catraca.js'
import type { Config } from '../config/schema.js'
import { CatracaError } from '../core/errors.js'
import type { ServerOptions } from '../server/options.js'

const DAY_MS = 24 * 3_600_000

/** Converts the configuration into options of the library and of the server, which know nothing of its sources. */

export function openOptions(config: Config, store: string): OpenOptions {
  const { allowlists, audit, cache, embedded, idempotency, membership, metrics, stores, tokens } = config
  return {
    store,
    embedded: defined(embedded),
    redis: redisOptions(config),
    dynamodb: dynamodbOptions(config),
    membership,
    limits: limitOptions(config),
    idempotency: { ...idempotency, ...defined({ store: stores.idempotency }) },
    codes: codeOptions(config),
    tokens: { ...tokens, ...defined({ store: stores.tokens }) },
    locks: { ...config.locks, redlock: config.locks.redlock.read(), ...defined({ store: stores.locks }) },
    cache: { ...cache, ...defined({ store: stores.cache }) },
    audit: { ...audit, ...defined({ store: stores.audit }) },
    onUnavailable: allowlists.onUnavailable,
    metrics: { enabled: metrics.enabled, maxSeries: metrics.maxSeries },
    tracing: config.tracing,
    sweepIntervalMs: allowlists.sweepIntervalMs,
    import: defined(config.import),
  }
}

/** The fields that are set. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

function limitOptions({ limits, stores }: Config): NonNullable<OpenOptions['limits']> {
  const { leaseSecret, onUnavailable, localLeaseTokens, localLeaseMs, usageRetentionDays, ...rest } = limits
  const { inline: _, ...options } = rest
  return {
    ...options,
    defaults: { onUnavailable },
    usageRetentionMs: usageRetentionDays * DAY_MS,
    ...(localLeaseTokens > 0 && { localLease: { tokens: localLeaseTokens, ms: localLeaseMs } }),
    ...defined({ leaseSecret: leaseSecret.read(), store: stores.limits }),
  }
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
    ...defined({ store: stores.codes }),
  }
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
  const ca = tlsCaFile === undefined ? undefined : readCertificate(tlsCaFile)
  return defined({ ca, servername: tlsServerName })
}

function dynamodbOptions({ dynamodb }: Config): NonNullable<OpenOptions['dynamodb']> {
  const { hotTier: _, hotLists: __, tenShardsAbove, fiftyShardsAbove, giantAbove, ...rest } = dynamodb
  return {
    ...defined(rest),
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
  const { workers: _, logLevel: __, logHashKey, tlsCert, tlsKey, tlsClientCa, ...options } = server
  return {
    ...defined({ ...options, logHashKey: logHashKey.read(), tls: tlsSource(server) }),
    bootstrapKeys: () => keys.read(),
    keyMaxStaleMs: access.maxStaleMs,
    metrics: metrics.enabled,
    inlineLimits: limits.inline,
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
