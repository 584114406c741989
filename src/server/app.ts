import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import Fastify, { type FastifyServerOptions, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Catraca } from '../catraca.js'
import { every } from '../timers.js'
import { Gate } from './access/gate.js'
import { KeyRegistry } from './access/registry.js'
import { AccessLog } from './access-log.js'
import { Bodies } from './bodies.js'
import { withCheckDoor } from './check/door.js'
import { SocketDoor } from './check/socket-door.js'
import { answerClientError } from './client-error.js'
import { Connections } from './connections.js'
import type { App, ServerContext } from './context.js'
import { addHooks, sendProblem } from './hooks.js'
import { ImportJobs } from './imports/jobs.js'
import { jsonParser } from './json-body.js'
import { LogLevelSwitch } from './log-level.js'
import { createLogger } from './logger.js'
import { type ServerOptions, type ServerSettings, withDefaults } from './options.js'
import { Pipelines } from './pipelines.js'
import { requestIdFrom } from './request-id.js'
import { addTracing } from './request-spans.js'
import type { RouteEntry } from './route-table.js'
import { allowlistRoutes } from './routes/allowlists.js'
import { auditRoutes } from './routes/audit.js'
import { cacheRoutes } from './routes/cache.js'
import { checkRoutes } from './routes/checks.js'
import { codeRoutes } from './routes/codes.js'
import { consoleRoutes } from './routes/console.js'
import { documentRoutes } from './routes/docs.js'
import { exportRoutes } from './routes/export.js'
import { idempotencyRoutes } from './routes/idempotency.js'
import { importRoutes } from './routes/imports.js'
import { indexRoutes } from './routes/indexes.js'
import { keyRoutes } from './routes/keys.js'
import { limitConfigRoutes } from './routes/limit-configs.js'
import { limitRoutes } from './routes/limits.js'
import { lockRoutes } from './routes/locks.js'
import { logLevelRoutes } from './routes/log-level.js'
import { memberRoutes } from './routes/members.js'
import { metricsRoutes } from './routes/metrics.js'
import { operationRoutes } from './routes/operations.js'
import { addSharedSchemas } from './routes/responses.js'
import { sessionRoutes } from './routes/session.js'
import { shardRoutes } from './routes/shards.js'
import { tokenRoutes } from './routes/tokens.js'
import { buildSerializer } from './serializers.js'
import { ServerMetrics } from './server-metrics.js'
import { settleTicks } from './settle.js'
import { followTls, HANDSHAKE_TIMEOUT_MS, type TlsMaterial, tlsOptions } from './tls.js'
import { validatorCompiler } from './validation.js'

export interface BuiltServer {
  app: App
  context: ServerContext
  connections: Connections
  /** Connections whose last request has ended become idle one by one: to be called again and again. */
  closeIdle: () => void
  /** Every route that was registered. */
  routes: readonly RouteEntry[]
}

/** The server, complete but not listening. */
export async function buildServer(catraca: Catraca, options: ServerOptions): Promise<BuiltServer> {
  await settleTicks()
  // The host may have begun to collect traces after the instance was opened.
  await catraca.tracing.look()
  const settings = withDefaults(options)
  const logger = settings.logger ?? createLogger()
  let connections!: Connections
  const context = createContext(catraca, settings, logger, () => connections)
  const app = createApp(context, logger)
  // First of all hooks: a request that the others refuse is traced too.
  addTracing(app, context)
  const routes = addHooks(app, context)
  app.setValidatorCompiler(validatorCompiler)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', jsonParser(app, context))
  addSharedSchemas(app)
  await documentRoutes(app)
  for (const add of ROUTES) add(app, context)
  const door = new SocketDoor(context, app.server)
  connections = new Connections(app.server, settings.maxConnections, tellRefusals(logger))
  const closeIdle = () => {
    door.closeIdle()
    app.server.closeIdleConnections()
    connections.closeSilent()
  }
  let closing: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    context.stopping = true
    closeIdle()
    // Connections whose last request ends only now become idle one by one.
    closing = every(closeIdle, IDLE_CHECK_MS)
  })
  const { tls, tlsRefreshMs } = settings
  const unfollow = tls && followTls(app.server as HttpsServer, tls, tlsRefreshMs, logger)
  app.addHook('onClose', async () => {
    clearInterval(closing)
    context.registry.stop()
    context.logLevel.close()
    context.metrics?.stop()
    unfollow?.()
  })
  await app.ready()
  await context.registry.refresh()
  context.registry.start()
  return { app, context, connections, closeIdle, routes }
}

/** A new capability adds its routes here. */
const ROUTES = [
  operationRoutes,
  logLevelRoutes,
  metricsRoutes,
  sessionRoutes,
  checkRoutes,
  allowlistRoutes,
  memberRoutes,
  importRoutes,
  exportRoutes,
  indexRoutes,
  shardRoutes,
  keyRoutes,
  limitRoutes,
  limitConfigRoutes,
  idempotencyRoutes,
  codeRoutes,
  tokenRoutes,
  lockRoutes,
  cacheRoutes,
  auditRoutes,
  consoleRoutes,
]

export const IDLE_CHECK_MS = 25
const TELL_REFUSALS_EVERY_MS = 10_000

/** A line now and then: whoever is refused mostly comes again at once. */
function tellRefusals(logger: Logger): (refused: number) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return (refused) => {
    if (performance.now() - toldAtMs < TELL_REFUSALS_EVERY_MS) return
    toldAtMs = performance.now()
    logger.warn({ refused }, 'connections are refused: as many as may be are open (server.maxConnections)')
  }
}

function createContext(
  catraca: Catraca,
  settings: ServerSettings,
  logger: Logger,
  connections: () => Connections,
): ServerContext {
  const registry = new KeyRegistry({
    read: () => catraca.keys.stored(),
    bootstrap: settings.bootstrapKeys,
    refreshMs: settings.keyRefreshMs,
    maxStaleMs: settings.keyMaxStaleMs,
    onError: (error) => logger.warn({ err: error }, 'API keys could not be read'),
    onShadowed: (names) =>
      logger.warn({ names }, 'stored API keys are refused: CATRACA_KEYS has others of the same names'),
  })
  catraca.keys.reserve(() => settings.bootstrapKeys().map(({ name }) => name))
  const accessLog = new AccessLog(logger, {
    sampling: settings.accessLogSampling,
    logCustomerIds: settings.logCustomerIds,
    hashKey: settings.logHashKey,
  })
  const gate = new Gate(registry)
  const logLevel = new LogLevelSwitch(logger)
  const metrics = settings.metrics ? new ServerMetrics(catraca, settings, connections) : undefined
  const imports = new ImportJobs()
  const { transferTimeoutMs, bodiesLimitBytes, bodyLimitBytes } = settings
  const bodies = new Bodies(transferTimeoutMs, Math.max(bodiesLimitBytes, bodyLimitBytes))
  return { catraca, settings, registry, gate, accessLog, logLevel, metrics, imports, bodies, stopping: false }
}

function createApp(context: ServerContext, logger: Logger): App {
  const { bodyLimitBytes, headerLimitBytes } = context.settings
  const options: FastifyServerOptions<Server> = {
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    exposeHeadRoutes: false,
    // A stopping server refuses in its own words, see hooks.ts.
    return503OnClosing: false,
    bodyLimit: bodyLimitBytes,
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    // Longer than any URL that fits the headers: an id that is too long is for the library to refuse.
    routerOptions: { maxParamLength: headerLimitBytes },
    schemaController: { compilersFactory: { buildSerializer } },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
    clientErrorHandler: answerClientError,
    serverFactory: (handler) => createHttpServer(context, handler as Handler),
  }
  return Fastify(options) as unknown as App
}

function createHttpsServer(material: TlsMaterial, parsing: object, listener: RequestListener): Server {
  const { clientCa } = material
  const clients = clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }
  const secure = { ...tlsOptions(material), ...clients, handshakeTimeout: HANDSHAKE_TIMEOUT_MS }
  return createTlsServer({ ...parsing, ...secure }, listener)
}

type Handler = Parameters<typeof withCheckDoor>[1]

function createHttpServer(context: ServerContext, handler: Handler): Server {
  const { settings, bodies } = context
  const { headerLimitBytes, keepAliveTimeoutMs, transferTimeoutMs, tls } = settings
  const parsing = {
    maxHeaderSize: headerLimitBytes,
    // A missing `Host` is refused by hooks.ts, as a problem like any other.
    requireHostHeader: false,
    headersTimeout: transferTimeoutMs,
    // Of bodies `bodies.ts` takes care, because an import may take as long as it takes.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.ceil(transferTimeoutMs / 4),
    keepAliveTimeout: keepAliveTimeoutMs,
  }
  const answer = settings.checkFastPath === 'off' ? handler : withCheckDoor(context, handler)
  const pipelines = new Pipelines(settings.maxInFlightPerConnection, answer)
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    bodies.expect(request)
    pipelines.take(request, response)
  }
  const server =
    tls === undefined ? createServer(parsing, listener) : createHttpsServer(tls(), parsing, listener)
  // Whoever has asked and then stopped talking gets an answer all the same.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Without this Node hangs up, also on those who wait for the answers to the requests before it.
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    answerClientError({ code: 'HPE_INVALID_METHOD' }, socket)
  })
  server.timeout = transferTimeoutMs
  server.on('timeout', (socket: Socket) => {
    // Nothing has moved for that long. What is worked on may take longer, and headers that are late are told so by Node.
    if (socket.writableLength > 0 || Pipelines.isIdle(socket)) socket.destroy()
  })
  return server
}
