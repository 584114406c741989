import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider } from 'fastify'
import type { Catraca } from '../../app/open-catraca.js'
import type { Scope } from '../../guards/access/scopes.js'
import type { Gate } from '../access/gate.js'
import type { KeyRegistry } from '../access/registry.js'
import type { ImportJobs } from '../imports/jobs.js'
import type { ServerSettings } from '../options.js'
import type { AccessLog } from './access-log.js'
import type { Bodies } from './bodies.js'
import type { LogLevelSwitch } from './log-level.js'
import type { ServerMetrics } from './server-metrics.js'
import type { Static, TSchema } from './typebox.js'

/** What the routes share. */
export interface ServerContext {
  readonly catraca: Catraca
  readonly settings: ServerSettings
  readonly registry: KeyRegistry
  readonly gate: Gate
  readonly imports: ImportJobs
  readonly bodies: Bodies
  readonly accessLog: AccessLog
  readonly logLevel: LogLevelSwitch
  /** Absent where they are switched off. */
  readonly metrics: ServerMetrics | undefined
  /** Set by `stop()`: from then on no new work is taken. */
  stopping: boolean
}

/** The scope that a route needs; `open` ones need none, and for `any` a key that is known is enough. */
export type RouteScope = Scope | 'open' | 'any'

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: RouteScope
    /** Keys with `admin` may call it too: it looks at, or takes away, what callers with the scope have made. */
    orAdmin?: boolean
    /** Also answered while the server stops, and to strangers on a server without keys. */
    always?: boolean
    /** For those who watch an outage: the keys that were last known count for longer. */
    operating?: boolean
    /** What it changes is recorded with who asked for it; so it is on every route of an administrator. */
    audited?: boolean
  }
}

/** Handlers get the types of their schemas. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>
