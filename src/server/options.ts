import { tmpdir } from 'node:os'
import type { Logger } from 'pino'
import { type Fields, KnownFields } from '../core/fields.js'
import type { KeyRecord } from '../guards/access/port.js'
import type { SignInOptions } from '../guards/access/sign-in-options.js'
import type { InlineLimits } from '../guards/rate-limit/types.js'
import type { MetricsRegistry } from '../metrics/index.js'
import type { GrpcOptions } from './grpc/options.js'
import type { LogLevel } from './http/logger.js'
import type { TlsSource } from './http/tls.js'

/** A key of the configuration, not of the store. */
export type BootstrapKey = Pick<KeyRecord, 'name' | 'scopes' | 'hash'>

interface FlagOptions {
  /** What a bulk evaluation evaluates: ids of lists, and beginnings of ids with a `*` behind them. */
  exposed?: readonly string[]
  /** Resource whose limits evaluations take from. */
  limitedBy?: string
  /** Open event streams. */
  maxStreams?: number
  /** The path of the event stream as clients reach it. */
  streamPath?: string
}

export interface ServerOptions {
  host?: string
  port?: number
  /** False when another process accepts the connections and passes them to `take`. */
  listens?: boolean
  /** Defaults to `createLogger`. */
  logger?: Logger
  /** Share of answered requests that are logged, 0 to 1. Server errors are always logged. */
  accessLogSampling?: number
  /** Log customer ids in plain text instead of hashed. */
  logCustomerIds?: boolean
  /** Key for these hashes. Use the same on every pod to find a customer across pods. Random when absent. */
  logHashKey?: string
  /** Keys in addition to those in the store. Called at every refresh, because their file may change. */
  bootstrapKeys?: () => readonly BootstrapKey[]
  /** Sign-in of people by OpenID Connect. With it every call needs a key or a session. */
  signIn?: SignInOptions
  /** Limit of a JSON body. Imports are streams and have no limit. */
  bodyLimitBytes?: number
  /** Values in a JSON body, counting objects, lists and what is in them. */
  bodyLimitValues?: number
  headerLimitBytes?: number
  /** Limit of all JSON bodies in flight together. */
  bodiesLimitBytes?: number
  /**
   * Time limit for receiving the headers of a request, and then its body; imports may take longer. Also how long a
   * client may leave a response unread.
   */
  transferTimeoutMs?: number
  /** Limit of open connections. When absent: what file descriptors allow, at most 10,000. */
  maxConnections?: number
  /** Requests of one connection that are handled at the same time, when the client pipelines. */
  maxInFlightPerConnection?: number
  /**
   * How hot operations are answered: on the raw connection, or by the framework like other requests.
   */
  checkFastPath?: 'connection' | 'off'
  /**
   * Idle connections are closed after this time. Longer than load balancers keep them, so that the balancer closes
   * first.
   */
  keepAliveTimeoutMs?: number
  /** Time limit from `stop()` to the end. */
  shutdownTimeoutMs?: number
  /** How long a stopping server still responds with SHUTTING_DOWN before it closes idle connections. */
  drainMs?: number
  /** Directory for the bodies of asynchronous imports. */
  spoolDir?: string
  /** Whether the instance is warmed up. Until then `/ready` responds 503. */
  ready?: () => boolean
  /** An engine that does not answer the health probe within this time counts as down. */
  healthTimeoutMs?: number
  /** How often API keys are read again. */
  keyRefreshMs?: number
  /** How long API keys of the store are trusted while the store does not answer. */
  keyMaxStaleMs?: number
  /** Called when a request changes the log level: processes that serve together change it together. */
  onLogLevel?: (level: LogLevel, forSeconds: number | undefined) => void
  /** Serves HTTPS with this certificate, and reloads it when it changes. */
  tls?: TlsSource
  /** How often the certificate is read again. */
  tlsRefreshMs?: number
  /** Directory of the built web console, when it is not beside the compiled code. */
  consoleDir?: string
  /** What `limits` in a request may do. */
  inlineLimits?: InlineLimits
  /** Evaluations of lists and waves as feature flags. */
  flags?: FlagOptions
  /** A second port for gRPC. */
  grpc?: GrpcOptions
  /** Whether the server collects metrics and serves `/metrics`. */
  metrics?: boolean
  /** Renders `/metrics` when several processes serve the same address. When absent, this process alone. */
  shareMetrics?: (own: MetricsRegistry) => () => Promise<string>
}

const SIGN_IN_FIELDS: Fields<SignInOptions> = {
  ...{ issuer: true, clientId: true, clientSecret: true, clientAuth: true, baseUrl: true, secret: true },
  ...{ roles: true, scopes: true, prompt: true, groupsClaim: true, nameClaim: true, label: true },
  ...{ sessionMs: true, idleMs: true, confirmMs: true, providerAwayMs: true, sessionsPerPerson: true },
  ...{ clockToleranceSeconds: true, timeoutMs: true },
}
const FIELDS: Fields<ServerOptions> = {
  ...{
    host: true,
    port: true,
    listens: true,
    tls: true,
    tlsRefreshMs: true,
    consoleDir: true,
    spoolDir: true,
  },
  ...{ logger: true, accessLogSampling: true, logCustomerIds: true, logHashKey: true, onLogLevel: true },
  ...{ bootstrapKeys: true, keyRefreshMs: true, keyMaxStaleMs: true, inlineLimits: true },
  ...{ bodyLimitBytes: true, bodyLimitValues: true, headerLimitBytes: true, bodiesLimitBytes: true },
  transferTimeoutMs: true,
  ...{ maxConnections: true, maxInFlightPerConnection: true, checkFastPath: true, keepAliveTimeoutMs: true },
  ...{ shutdownTimeoutMs: true, drainMs: true, ready: true, healthTimeoutMs: true },
  ...{ metrics: true, shareMetrics: true },
  grpc: {
    ...{ port: true, descriptors: true, unconfigured: true, overrideLimit: true, responseHeaders: true },
    ...{ routes: true, customer: true, unmatched: true, jwtPayload: true },
    ...{ messageLimitBytes: true, maxStreams: true, maxCalls: true },
  },
  flags: { exposed: true, limitedBy: true, maxStreams: true, streamPath: true },
  signIn: SIGN_IN_FIELDS,
}
const KNOWN = new KnownFields(FIELDS)

type Absent =
  | 'grpc'
  | 'signIn'
  | 'logger'
  | 'maxConnections'
  | 'logHashKey'
  | 'shareMetrics'
  | 'tls'
  | 'consoleDir'

type FlagSettings = Required<Omit<FlagOptions, 'limitedBy'>> & Pick<FlagOptions, 'limitedBy'>

export type ServerSettings = Required<Omit<ServerOptions, Absent | 'flags'>> &
  Pick<ServerOptions, Absent> & { readonly flags: FlagSettings }

export const SERVER_DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  listens: true,
  accessLogSampling: 0.01,
  logCustomerIds: false,
  bootstrapKeys: (): readonly BootstrapKey[] => [],
  bodyLimitBytes: 1024 * 1024,
  bodyLimitValues: 20_000,
  headerLimitBytes: 16 * 1024,
  bodiesLimitBytes: 64 * 1024 * 1024,
  transferTimeoutMs: 30_000,
  maxInFlightPerConnection: 8,
  checkFastPath: 'connection',
  keepAliveTimeoutMs: 72_000,
  shutdownTimeoutMs: 10_000,
  drainMs: 200,
  healthTimeoutMs: 2_000,
  keyRefreshMs: 2_000,
  keyMaxStaleMs: 5_000,
  tlsRefreshMs: 10_000,
  onLogLevel: (): void => {},
  metrics: true,
  inlineLimits: 'never',
  flags: { exposed: [], maxStreams: 1_000, streamPath: '/ofrep/v1/events' },
} as const

export function withDefaults(options: ServerOptions): ServerSettings {
  KNOWN.check(options)
  const flags = { ...SERVER_DEFAULTS.flags, ...options.flags }
  return { ...SERVER_DEFAULTS, spoolDir: tmpdir(), ready: () => true, ...options, flags }
}
