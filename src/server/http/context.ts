import type { Logger } from 'pino'
import type { Catraca } from '../../app/open-catraca.js'
import type { OperationRules } from '../../wire/operation.js'
import type { OperationReach } from '../../wire/reach.js'
import type { OperationScope } from '../../wire/scope.js'
import type { Gate } from '../access/gate.js'
import type { KeyRegistry } from '../access/registry.js'
import type { SignIn } from '../access/sign-in/index.js'
import type { DirectRoutes } from '../direct/routes.js'
import type { ImportJobs } from '../imports/jobs.js'
import type { ServerSettings } from '../options.js'
import type { AccessLog } from './access-log.js'
import type { Bodies } from './bodies.js'
import type { LogLevelSwitch } from './log-level.js'
import type { ServerMetrics } from './server-metrics.js'
import type { Newcomers } from './turns.js'

/** What the routes share. */
export interface ServerContext {
  readonly catraca: Catraca
  readonly settings: ServerSettings
  readonly registry: KeyRegistry
  readonly gate: Gate
  /** Undefined unless people can sign in. */
  readonly signIn: SignIn | undefined
  readonly imports: ImportJobs
  readonly bodies: Bodies
  readonly newcomers: Newcomers
  readonly accessLog: AccessLog
  /** The operations, for calls that are answered without the framework. */
  readonly direct: DirectRoutes
  readonly logger: Logger
  readonly logLevel: LogLevelSwitch
  /** Undefined when metrics are disabled. */
  readonly metrics: ServerMetrics | undefined
  /** Set by `stop()`: from then on the server refuses new requests. */
  stopping: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig extends OperationRules {
    scope?: OperationScope
    reach?: OperationReach | undefined
  }
}
