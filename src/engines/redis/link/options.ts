import { CatracaError } from '../../../core/errors.js'
import { DEFAULT_REDIS } from '../defaults.js'

export interface RedisTlsOptions {
  /** PEM text of the CA that signed the server's certificate. */
  ca?: string
  /** The name in the certificate, if it is not the host of the URL. */
  servername?: string
  rejectUnauthorized?: boolean
}

export interface RedisOptions {
  /** From the first packet to the end of the handshake. */
  connectTimeoutMs?: number
  /** For a whole call, including the wait for a connection and all retries. */
  commandTimeoutMs?: number
  /** Connections per primary. One is enough unless large replies delay small ones. */
  poolSize?: number
  tls?: RedisTlsOptions
  /**
   * Called for every new connection, so that a changed password needs no restart. Overrides the password of the URL.
   */
  readPassword?: () => string | undefined
  /** Maximum size of one batch: items, and bytes of their arguments. */
  maxBatch?: { items: number; bytes: number }
  /** A write succeeds only when this many replicas have it. Otherwise its outcome is unknown. */
  waitReplicas?: { replicas: number; timeoutMs: number }
  /** Whether a replica may confirm memberships, if it is as recent as memory. Decisions are the primary's. */
  confirmFrom?: 'primary' | 'replica'
  /** Calls in flight per connection. Above it, a call fails at once. */
  maxInFlight?: number
  /** Calls that wait for a connection. Above it, a call fails at once. */
  maxWaiting?: number
}

export interface Settings extends Required<Omit<RedisOptions, 'waitReplicas' | 'tls' | 'readPassword'>> {
  tls: RedisTlsOptions
  readPassword: () => string | undefined
  waitReplicas: { replicas: number; timeoutMs: number } | undefined
}

const DEFAULTS: Settings = {
  connectTimeoutMs: DEFAULT_REDIS.connectTimeoutMs,
  commandTimeoutMs: DEFAULT_REDIS.commandTimeoutMs,
  poolSize: DEFAULT_REDIS.poolSize,
  tls: {},
  readPassword: () => undefined,
  maxBatch: DEFAULT_REDIS.maxBatch,
  waitReplicas: undefined,
  confirmFrom: DEFAULT_REDIS.confirmFrom,
  maxInFlight: DEFAULT_REDIS.maxInFlight,
  maxWaiting: DEFAULT_REDIS.maxWaiting,
}

export function settingsOf(options: RedisOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const settings: Settings = { ...DEFAULTS, ...given }
  const { connectTimeoutMs, commandTimeoutMs, poolSize, maxBatch, maxInFlight, maxWaiting } = settings
  const atLeastOne = {
    connectTimeoutMs,
    commandTimeoutMs,
    poolSize,
    'maxBatch.items': maxBatch.items,
    'maxBatch.bytes': maxBatch.bytes,
    maxInFlight,
    maxWaiting,
  }
  for (const [name, value] of Object.entries(atLeastOne)) {
    if (!Number.isInteger(value) || value < 1) {
      throw new CatracaError('CONFIG_INVALID', `redis.${name} must be a whole number of at least 1`)
    }
  }
  if (settings.confirmFrom !== 'primary' && settings.confirmFrom !== 'replica') {
    throw new CatracaError('CONFIG_INVALID', 'redis.confirmFrom must be primary or replica')
  }
  const wait = settings.waitReplicas
  if (
    wait !== undefined &&
    !(wait.replicas >= 1 && wait.timeoutMs >= 1 && wait.timeoutMs < commandTimeoutMs)
  ) {
    throw new CatracaError(
      'CONFIG_INVALID',
      'redis.waitReplicas needs at least 1 replica and a timeoutMs from 1 to below commandTimeoutMs',
    )
  }
  return settings
}
