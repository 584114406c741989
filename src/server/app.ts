import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import Fastify, { type FastifyServerOptions, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Catraca } from '../app/open-catraca.js'
import { requireGuards } from '../app/own-engine.js'
import { every } from '../core/timers.js'
import { RESOURCES } from '../wire/index.js'
import { Gate } from './access/gate.js'
import { refuseBeyondReach } from './access/reach.js'
import { KeyRegistry } from './access/registry.js'
import { SignIn } from './access/sign-in/index.js'
import { describeFailure } from './access/sign-in/provider-failures.js'
import { DirectConnections } from './direct/connection.js'
import { type CompileSerializer, DirectRoutes } from './direct/routes.js'
import { AccessLog } from './http/access-log.js'
import { Bodies, SMALL_BODY_BYTES } from './http/bodies.js'
import { answerClientError } from './http/client-error.js'
import { ConnectionTimeouts, lookEveryMs } from './http/connection-timeouts.js'
import { Connections } from './http/connections.js'
import type { ServerContext } from './http/context.js'
import { addHooks, sendProblem } from './http/hooks.js'
import type { App } from './http/instance.js'
import { jsonParser } from './http/json-body.js'
import { LogLevelSwitch } from './http/log-level.js'
import { createLogger } from './http/logger.js'
import { Pipelines } from './http/pipelines.js'
import { requestIdFrom } from './http/request-id.js'
import { addTracing } from './http/request-spans.js'
import type { RouteEntry } from './http/routes-page.js'
import { buildSerializer } from './http/serializers.js'
import { ServerMetrics } from './http/server-metrics.js'
import { SlicedReading } from './http/slices.js'
import { followTls, HANDSHAKE_TIMEOUT_MS, type TlsMaterial, tlsOptions } from './http/tls.js'
import { validatorCompiler } from './http/validation.js'
import { warmNextTick } from './http/warm-next-tick.js'
import { ImportJobs } from './imports/jobs.js'
import { type ServerOptions, type ServerSettings, withDefaults } from './options.js'
import { keyRoutes } from './routes/access/keys.js'
import { sessionRoutes } from './routes/access/session.js'
import { signInRoutes } from './routes/access/sign-in.js'
import { checkRoutes } from './routes/allowlist/checks.js'
import { exportRoutes } from './routes/allowlist/export.js'
import { importRoutes } from './routes/allowlist/imports.js'
import { indexRoutes } from './routes/allowlist/indexes.js'
import { allowlistRoutes } from './routes/allowlist/lists.js'
import { memberRoutes } from './routes/allowlist/members.js'
import { shardRoutes } from './routes/allowlist/shards.js'
import { auditRoutes } from './routes/audit/routes.js'
import { cacheRoutes } from './routes/cache/routes.js'
import { flagRoutes, refusedUnreadableKey } from './routes/flags/routes.js'
import { idempotencyRoutes } from './routes/idempotency/routes.js'
import { lockRoutes } from './routes/lock/routes.js'
import { codeRoutes } from './routes/one-time-code/routes.js'
import { consoleRoutes } from './routes/operations/console.js'
import { denialRoutes } from './routes/operations/denials.js'
import { documentRoutes } from './routes/operations/docs.js'
import { fleetRoutes } from './routes/operations/fleet.js'
import { operationRoutes } from './routes/operations/health.js'
import { logLevelRoutes } from './routes/operations/log-level.js'
import { metricsRoutes } from './routes/operations/metrics.js'
import { limitConfigRoutes } from './routes/rate-limit/configs.js'
import { limitRoutes } from './routes/rate-limit/routes.js'
import { tokenRoutes } from './routes/token-denylist/routes.js'

export interface BuiltServer {
  app: App
  context: ServerContext
  connections: Connections
  /** Every route that was registered. */
  routes: readonly RouteEntry[]
}

/** The server, complete but not listening. */
export async function buildServer(catraca: Catraca, options: ServerOptions): Promise<BuiltServer> {
  requireGuards(catraca, 'the server')
  await warmNextTick()
  // The host may have registered a tracing provider after the instance was opened.
  await catraca.tracing.look()
  const settings = withDefaults(options)
  const logger = settings.logger ?? createLogger()
  let connections!: Connections
  const signIn = await openSignIn(catraca, settings, logger)
  const context = createContext(catraca, settings, logger, () => connections, signIn)
  const app = createApp(context, logger)
  // The first hook, so that requests that other hooks refuse are traced too.
  addTracing(app, context)
  const routes = addHooks(app, context)
  if (signIn !== undefined) refuseBeyondReach(app, context.gate)
  app.setValidatorCompiler(validatorCompiler)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', jsonParser(context))
  for (const schema of Object.values(RESOURCES)) app.addSchema(schema)
  await documentRoutes(app)
  for (const add of ROUTES) add(app, context)
  new SlicedReading(app.server, (socket) => context.gate.callerAt(socket), context.newcomers)
  const timeouts = new ConnectionTimeouts(app.server, settings)
  const directConnections = new DirectConnections(context, app.server)
  connections = new Connections(app.server, settings.maxConnections, tellRefusals(logger), context.newcomers)
  const closeIdle = () => {
    directConnections.closeIdle()
    app.server.closeIdleConnections()
    connections.closeIdle()
    if (connections.count > 0 || app.server.listening) return
    clearInterval(closing)
    timeouts.stop()
  }
  let closing: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    context.stopping = true
    timeouts.close()
    closeIdle()
    // Connections become idle one by one as their requests end.
    closing = every(closeIdle, IDLE_CHECK_MS)
  })
  const { tls, tlsRefreshMs } = settings
  const unfollow = tls && followTls(app.server as HttpsServer, tls, tlsRefreshMs, logger)
  app.addHook('onClose', async () => {
    context.registry.stop()
    context.logLevel.close()
    context.metrics?.stop()
    unfollow?.()
  })
  await app.ready()
  context.direct.serializeBy(app.serializerCompiler as CompileSerializer)
  await context.registry.open()
  context.registry.start()
  return { app, context, connections, routes }
}

/** A new guard adds its routes here. */
const ROUTES = [
  operationRoutes,
  logLevelRoutes,
  metricsRoutes,
  fleetRoutes,
  denialRoutes,
  sessionRoutes,
  signInRoutes,
  checkRoutes,
  flagRoutes,
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

const IDLE_CHECK_MS = 25
const TELL_REFUSALS_EVERY_MS = 10_000

/** Logs a line now and then: a refused client mostly reconnects at once. */
export function tellRefusals(logger: Logger): (refused: number) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return (refused) => {
    if (performance.now() - toldAtMs < TELL_REFUSALS_EVERY_MS) return
    toldAtMs = performance.now()
    logger.warn(
      { refused },
      'connections are refused: the limit of open connections is reached (server.maxConnections)',
    )
  }
}

async function openSignIn(
  { sessions }: Catraca,
  { signIn }: ServerSettings,
  logger: Logger,
): Promise<SignIn | undefined> {
  if (signIn === undefined) return undefined
  return SignIn.open(signIn, sessions, (message, error) =>
    logger.warn(error && describeFailure(error), message),
  )
}

function createContext(
  catraca: Catraca,
  settings: ServerSettings,
  logger: Logger,
  connections: () => Connections,
  signIn: SignIn | undefined,
): ServerContext {
  const registry = new KeyRegistry({
    read: () => catraca.keys.stored(),
    bootstrap: settings.bootstrapKeys,
    refreshMs: settings.keyRefreshMs,
    maxStaleMs: settings.keyMaxStaleMs,
    isLocked: signIn !== undefined,
    now: () => catraca.keys.now(),
    recordUse: ({ name, hash }) => catraca.keys.used({ name, hash }),
    kept: catraca.keptKeys,
    onError: (error) => logger.warn({ err: error }, 'API keys could not be read'),
    onShadowed: (names) =>
      logger.warn(
        { names },
        'stored API keys are refused: CATRACA_KEYS defines other keys with the same names',
      ),
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
  const newcomers = { count: 0 }
  const callerOf = (request: IncomingMessage) => gate.callerOf(request)
  const maxHeldBytes = Math.max(settings.bodiesLimitBytes, settings.bodyLimitBytes)
  const bodies = new Bodies(maxHeldBytes, callerOf, newcomers)
  return {
    catraca,
    settings,
    registry,
    gate,
    signIn,
    accessLog,
    logLevel,
    metrics,
    imports,
    bodies,
    newcomers,
    direct: new DirectRoutes(),
    logger,
    stopping: false,
  }
}

function createApp(context: ServerContext, logger: Logger): App {
  const { bodyLimitBytes, headerLimitBytes } = context.settings
  const options: FastifyServerOptions<Server> = {
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // Lines name the id of their request themselves: a logger for each request would cost more than most of its work.
    childLoggerFactory: (parent) => parent,
    exposeHeadRoutes: false,
    // hooks.ts refuses requests of a stopping server with a problem document.
    return503OnClosing: false,
    // Routes that take larger ones say so.
    bodyLimit: Math.min(bodyLimitBytes, SMALL_BODY_BYTES),
    genReqId: (request) => requestIdFrom(request.headers['x-request-id']),
    // Longer than any URL that the header limit allows: the library refuses ids that are too long.
    routerOptions: { maxParamLength: headerLimitBytes },
    schemaController: { compilersFactory: { buildSerializer } },
    frameworkErrors: (error, request, reply) => {
      if (!refusedUnreadableKey(request, reply)) sendProblem(error, request, reply)
    },
    clientErrorHandler: answerClientError,
    serverFactory: (handler) => createHttpServer(context, handler),
  }
  return Fastify(options) as unknown as App
}

function createHttpsServer(
  material: TlsMaterial,
  parsing: { headersTimeout: number },
  listener: RequestListener,
): Server {
  const { clientCa } = material
  const clients = clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }
  const handshakeTimeout = Math.min(HANDSHAKE_TIMEOUT_MS, parsing.headersTimeout)
  const server = createTlsServer(
    { ...parsing, ...tlsOptions(material), ...clients, handshakeTimeout },
    listener,
  )
  // Before Node reports it as an error of HTTP: that is answered, but nothing can be sent until the handshake is over, and
  // waiting for the answer to leave would keep the connection open.
  server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

function createHttpServer({ settings, newcomers }: ServerContext, handler: RequestListener): Server {
  const { headerLimitBytes, keepAliveTimeoutMs, transferTimeoutMs, tls } = settings
  const parsing = {
    maxHeaderSize: headerLimitBytes,
    // hooks.ts refuses a missing `Host` with a problem document.
    requireHostHeader: false,
    headersTimeout: transferTimeoutMs,
    // `connection-timeouts.ts` limits the time of bodies, because imports have no limit.
    requestTimeout: 0,
    connectionsCheckingInterval: lookEveryMs(settings),
    keepAliveTimeout: keepAliveTimeoutMs,
  }
  const listener = new Pipelines(settings.maxInFlightPerConnection, handler, newcomers).take
  const server =
    tls === undefined ? createServer(parsing, listener) : createHttpsServer(tls(), parsing, listener)
  // A client that has half-closed its connection after a request still gets the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Otherwise Node answers some requests itself, which then have none of the bounds.
  server.on('checkExpectation', listener)
  // And it would ask for the body of every stranger: `hooks.ts` does it for callers.
  server.on('checkContinue', listener)
  // Without this listener Node closes the connection, even while responses to earlier requests are pending.
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    // Node takes its own listeners off.
    socket.on('timeout', () => server.emit('timeout', socket))
    answerClientError({ code: 'HPE_INVALID_METHOD' }, socket)
  })
  server.timeout = transferTimeoutMs
  server.on('timeout', (socket: Socket) => {
    // The client does not read its answer. The other times are kept by `connection-timeouts.ts`.
    if (socket.writableLength > 0) socket.destroy()
  })
  return server
}
