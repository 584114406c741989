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
  /** Undefined when metrics are disabled. */
  readonly metrics: ServerMetrics | undefined
  /** Set by `stop()`: from then on the server refuses new requests. */
  stopping: boolean
}

/** The scope that a route needs. `open` needs no key; `any` needs any valid key. */
export type RouteScope = Scope | 'open' | 'any'

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: RouteScope
    /** Keys with `admin` may call it too: it reads or deletes records that callers with the scope have made. */
    orAdmin?: boolean
    /** Also answered while the server stops, and, on a server without keys, to callers of other machines. */
    always?: boolean
    /** For operators who watch an outage: the last known API keys are accepted for longer. */
    operating?: boolean
    /** The change is recorded in the audit trail with its caller. True for every admin route. */
    audited?: boolean
  }
}

/** Gives handlers the types of their schemas. */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>
