import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import type { UntypedServiceImplementation } from '@grpc/grpc-js'
import { Connections } from '../http/connections.js'
import type { ServerContext } from '../http/context.js'
import { followTls, HANDSHAKE_TIMEOUT_MS, tlsOptions } from '../http/tls.js'
import { AuthorizationService } from './auth/service.js'
import { Calls, MALFORMED } from './calls.js'
import { HealthService } from './health.js'
import { RateLimitService } from './limits/service.js'
import { OpenStreams } from './open-streams.js'
import { type GrpcSettings, grpcSettings } from './options.js'
import { type GrpcPackages, loadGrpc } from './packages.js'

const RATE_LIMITS = 'envoy.service.ratelimit.v3.RateLimitService'
const AUTHORIZATION = 'envoy.service.auth.v3.Authorization'
const HEALTH = 'grpc.health.v1.Health'

/** A port for gRPC beside that of HTTP. */
export class GrpcPort {
  readonly connections: Connections
  private readonly server: Server
  private readonly health: HealthService
  private readonly injector: ReturnType<
    InstanceType<GrpcPackages['grpc']['Server']>['createConnectionInjector']
  >
  private readonly unfollow: (() => void) | undefined

  constructor(
    context: ServerContext,
    private readonly settings: GrpcSettings,
    packages: GrpcPackages,
    onRefused: (refused: number) => void,
  ) {
    const { keepAliveTimeoutMs, transferTimeoutMs, maxConnections, tls, tlsRefreshMs } = context.settings
    const { grpc } = packages
    const { maxCalls } = settings
    const calls = new Calls({ context, grpc })
    const open = new OpenStreams({ timeoutMs: transferTimeoutMs, maxCalls }, (path, why) =>
      calls.overloaded(path, why),
    )
    const server = new grpc.Server({
      interceptors: [open.interceptor],
      'grpc.max_receive_message_length': settings.messageLimitBytes,
      'grpc.max_concurrent_streams': settings.maxStreams,
      'grpc.max_connection_idle_ms': keepAliveTimeoutMs,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc-node.max_session_memory': SESSION_MEMORY_MIB,
      'grpc.enable_channelz': 0,
    })
    const limits = new RateLimitService(context, settings)
    addService(server, packages, RATE_LIMITS, {
      ShouldRateLimit: (path) => calls.unary(path, limits),
    })
    const authorization = new AuthorizationService(context, settings)
    addService(server, packages, AUTHORIZATION, { Check: (path) => calls.unary(path, authorization) })
    const health = new HealthService(context, [RATE_LIMITS, AUTHORIZATION, HEALTH])
    this.health = health
    addService(server, packages, HEALTH, {
      Check: (path) => calls.unary(path, health),
      Watch: () => calls.watching(health),
    })
    // The sockets are ours: so connections are bounded, certificates renewed and workers served as those of HTTP are.
    this.injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())
    const inject = (socket: Socket) => this.injector.injectConnection(socket)
    this.server = tls === undefined ? createServer({ noDelay: true }, inject) : tlsServer(tls(), inject)
    this.connections = new Connections(this.server, maxConnections, onRefused, context.newcomers)
    this.unfollow = tls && followTls(this.server as TlsServer, tls, tlsRefreshMs, context.logger)
  }

  async listen(host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host, port: this.settings.port }, () => {
        this.server.off('error', reject)
        resolve()
      })
    })
  }

  get port(): number {
    return (this.server.address() as AddressInfo | null)?.port ?? this.settings.port
  }

  /** Serves a connection that another process has accepted. */
  take(socket: Socket): void {
    this.server.emit('connection', socket)
  }

  /** Takes no more connections and streams, and ends when those that are open have ended. */
  async drain(graceMs: number): Promise<void> {
    this.health.stop()
    this.server.close()
    this.connections.closeIdle()
    this.injector.drain(graceMs)
    await this.connections.allClosed()
  }

  close(): void {
    this.unfollow?.()
    this.server.close()
    this.injector.destroy()
    this.connections.closeAll()
  }
}

/** A client that has gone without a word is found by these. */
const KEEPALIVE_MS = 60_000
const KEEPALIVE_TIMEOUT_MS = 20_000
/** Memory that one connection may make the library hold. */
const SESSION_MEMORY_MIB = 10

function tlsServer(material: Parameters<typeof tlsOptions>[0], inject: (socket: Socket) => void): TlsServer {
  const clients = material.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }
  const server = createTlsServer(
    {
      ...tlsOptions(material),
      ...clients,
      ALPNProtocols: ['h2'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      noDelay: true,
    },
    inject,
  )
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

type Methods = Record<string, (path: string) => UntypedServiceImplementation[string]>

/** The library would answer a message that it cannot read with INTERNAL, as if it were our fault, and count it nowhere. */
function addService(
  server: InstanceType<GrpcPackages['grpc']['Server']>,
  { services }: GrpcPackages,
  name: string,
  methods: Methods,
): void {
  const described = Object.entries(services[name] as GrpcServiceDefinition).map(([method, definition]) => {
    const requestDeserialize = (bytes: Buffer) => {
      try {
        return definition.requestDeserialize(bytes)
      } catch {
        return MALFORMED
      }
    }
    return [method, { ...definition, requestDeserialize }]
  })
  const definition = Object.fromEntries(described) as GrpcServiceDefinition
  const handlers = Object.entries(methods).map(([method, make]) => [method, make(definition[method]!.path)])
  server.addService(definition, Object.fromEntries(handlers))
}

type GrpcServiceDefinition = Parameters<InstanceType<GrpcPackages['grpc']['Server']>['addService']>[0]

/** Undefined when no port for gRPC is asked for. */
export function openGrpc(context: ServerContext, onRefused: (refused: number) => void): GrpcPort | undefined {
  const { grpc } = context.settings
  return grpc && new GrpcPort(context, grpcSettings(grpc), loadGrpc(), onRefused)
}
