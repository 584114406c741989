import { readFileSync } from 'node:fs'
import type { OpenOptions } from '../app/open-catraca.js'
import type { Config } from '../config/schema.js'
import { CatracaError } from '../core/errors.js'
import type { GrpcOptions } from '../server/grpc/options.js'
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
    lastKnown: {
      maxStalenessMs: allowlists.maxStalenessMs,
      onNotInMemory: allowlists.onNotInMemory,
    },
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
  const { enabled, name } = config.fleet
  const { diskCopy: directory, diskCopyMaxBytes: maxDiskBytes } = config.allowlists
  const copy = { ...defined({ directory }), maxDiskBytes, keepKeys: config.access.diskCopy }
  const options = {
    ...given,
    // Only a server: a command that ends soon would leave a copy of the little that it has seen.
    lastKnown: { ...given.lastKnown, ...copy },
    codes: { ...given.codes, required },
    audit: { ...given.audit, actor },
    fleet: { enabled, announce: enabled, name },
  }
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
  const { hotTier: _, hotLists: __, logBatchMs: ___, ...options } = dynamodb
  const { tenShardsAbove, fiftyShardsAbove, giantAbove, ...rest } = options
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

export function serverOptions(config: Config): ServerOptions {
  const { server, keys, access, metrics, limits, flags, grpc } = config
  const { workers: _, logLevel: __, logHashKey, tlsCert, tlsKey, tlsClientCa, ...options } = server
  return {
    ...defined({ ...options, logHashKey: logHashKey.read(), tls: tlsSource(server) }),
    bootstrapKeys: () => keys.read(),
    keyMaxStaleMs: access.maxStaleMs,
    metrics: metrics.enabled,
    inlineLimits: limits.inline,
    flags: defined(flags),
    ...(grpc.port !== undefined && { grpc: { ...grpc, port: grpc.port } as GrpcOptions }),
    ...defined({ signIn: signInOptions(config) }),
  }
}

function signInOptions({ oidc }: Config): ServerOptions['signIn'] {
  const { issuer, clientId, baseUrl, clientSecret, secret, ...options } = oidc
  if (issuer === undefined) {
    const given = { clientId, baseUrl, clientSecret: clientSecret.read(), secret: secret.read() }
    const without = Object.keys(defined(given))[0] ?? (options.roles.length > 0 ? 'roles' : undefined)
    if (without !== undefined) throw new CatracaError('CONFIG_INVALID', `oidc.${without} needs oidc.issuer`)
    return undefined
  }
  const needed = { clientId, baseUrl, secret: secret.read() }
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined) throw new CatracaError('CONFIG_INVALID', `oidc.issuer needs oidc.${name}`)
  }
  return {
    ...{ ...defined(options), issuer, clientId: clientId!, baseUrl: baseUrl! },
    secret: () => secret.read()!,
    clientSecret: () => clientSecret.read(),
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
