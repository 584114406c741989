import { tmpdir } from 'node:os'
import type { Logger } from 'pino'
import { type Fields, KnownFields } from '../core/fields.js'
import type { KeyRecord } from '../guards/access/port.js'
import type { InlineLimits } from '../guards/rate-limit/types.js'
import type { MetricsRegistry } from '../metrics/index.js'
import type { LogLevel } from './http/logger.js'
import type { TlsSource } from './http/tls.js'

/** A key given by configuration instead of the store. */
export type BootstrapKey = Pick<KeyRecord, 'name' | 'scopes' | 'hash'>

export interface ServerOptions {
  host?: string
  port?: number
  /** Not where its connections are accepted elsewhere and given to it with `take`. */
  listens?: boolean
  /** As `createLogger` makes it, when absent. */
  logger?: Logger
  /** Share of answered requests that are logged, 0 to 1. Failures of the server are always logged. */
  accessLogSampling?: number
  /** Log customer ids as they are, instead of hashed. */
  logCustomerIds?: boolean
  /** Key of those hashes: the same on every pod to find a customer across pods. Random when absent. */
  logHashKey?: string
  /** Keys beside those in the store; asked again at every refresh, since their file may change. */
  bootstrapKeys?: () => readonly BootstrapKey[]
  /** Of JSON bodies that hold values or many ids; others are smaller, and imports are streams and have no limit. */
  bodyLimitBytes?: number
  /** Values in a JSON body, counting objects, lists and what is in them. */
  bodyLimitValues?: number
  headerLimitBytes?: number
  /** Of JSON bodies that are being received, of all callers together. */
  bodiesLimitBytes?: number
  /**
   * How long the headers, and then the body, of a request may take to arrive; imports may take longer. Also how long a
   * caller may leave an answer unread.
   */
  transferTimeoutMs?: number
  /** Connections at once; as many as file descriptors allow, up to 10,000, when absent. */
  maxConnections?: number
  /** Requests of one connection that are worked on at once, when its caller does not wait for answers. */
  maxInFlightPerConnection?: number
  /** How plain checks are answered: on the connection itself, before the framework, or by it as all other requests. */
  checkFastPath?: 'connection' | 'request' | 'off'
  /** Idle connections are closed after this; longer than load balancers keep them, so that these do it. */
  keepAliveTimeoutMs?: number
  /** From `stop()` to the end, at the latest. */
  shutdownTimeoutMs?: number
  /** How long a stopping server still answers "I am stopping" before it closes idle connections. */
  drainMs?: number
  /** Where the bodies of asynchronous imports wait. */
  spoolDir?: string
  /** Whether the instance is warm: until then `/ready` says 503. */
  ready?: () => boolean
  /** An engine that does not answer `/health` by then counts as down. */
  healthTimeoutMs?: number
  /** How often API keys are read again. */
  keyRefreshMs?: number
  /** How long API keys of the store are trusted while it does not answer. */
  keyMaxStaleMs?: number
  /** Told when somebody changes the log level here: processes that serve together change it together. */
  onLogLevel?: (level: LogLevel, forSeconds: number | undefined) => void
  /** Serves HTTPS with this, and follows it when it changes. */
  tls?: TlsSource
  /** How often the certificate is looked at again. */
  tlsRefreshMs?: number
  /** Where the built web console is, when not beside the compiled product. */
  consoleDir?: string
  /** What limits given in a request may do. */
  inlineLimits?: InlineLimits
  /** Whether requests are counted, and `/metrics` answers. */
  metrics?: boolean
  /** Who makes the text of `/metrics` where other processes serve the same address; this one alone when absent. */
  shareMetrics?: (own: MetricsRegistry) => () => Promise<string>
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
}
const KNOWN = new KnownFields(FIELDS)

type Absent = 'logger' | 'maxConnections' | 'logHashKey' | 'shareMetrics' | 'tls' | 'consoleDir'

export type ServerSettings = Required<Omit<ServerOptions, Absent>> & Pick<ServerOptions, Absent>

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
} as const

export function withDefaults(options: ServerOptions): ServerSettings {
  KNOWN.check(options)
  return { ...SERVER_DEFAULTS, spoolDir: tmpdir(), ready: () => true, ...options }
}
