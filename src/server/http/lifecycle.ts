import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catraca } from '../../app/open-catraca.js'
import { CatracaError } from '../../core/errors.js'
import { later } from '../../core/timers.js'
import { isLoopbackName } from '../access/loopback.js'
import { type BuiltServer, buildServer, tellRefusals } from '../app.js'
import type { GrpcPort } from '../grpc/index.js'
import type { ServerOptions } from '../options.js'
import type { App } from './instance.js'
import type { LogLevel } from './logger.js'

export interface RunningServer {
  readonly app: App
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Whether callers need an API key. */
  readonly keyed: boolean
  /** Serves a connection that another process has accepted. */
  take(socket: Socket): void
  /** Port of gRPC, if it was asked for. */
  readonly grpcPort: number | undefined
  /** The same as `take`, for the port of gRPC. */
  takeGrpc(socket: Socket): void
  /** The same as `PUT /log-level`. */
  setLogLevel(level: LogLevel, forSeconds?: number): void
  /** Refuses new requests, finishes those in flight, and ends within `shutdownTimeoutMs`. */
  stop(): Promise<void>
}

/** The last share of the time to stop: imports use it to record their progress. */
const BREAK_OFF_SHARE = 0.25
const BREAK_OFF_MAX_MS = 3_000

export async function startServer(catraca: Catraca, options: ServerOptions = {}): Promise<RunningServer> {
  const server = await buildServer(catraca, options)
  const { app, context } = server
  const { host, port, listens, tls } = context.settings
  const scheme = tls === undefined ? 'http' : 'https'
  let grpc: GrpcPort | undefined
  try {
    if (!context.registry.keyed && !isLoopbackName(host)) throw notWithoutKeys(host)
    // Fastify did not create the HTTP server, so it does not know that it uses TLS.
    const listenTextResolver = (address: string) => `listening at ${address.replace(/^https?(?=:)/, scheme)}`
    // Loaded only when it is asked for.
    if (context.settings.grpc !== undefined) {
      const { openGrpc } = await import('../grpc/index.js')
      grpc = openGrpc(context, tellRefusals(context.logger))
    }
    if (listens) await app.listen({ host, port, listenTextResolver })
    // Node starts to enforce the timeouts of connections on this event.
    else app.server.emit('listening')
    if (listens) await grpc?.listen(host)
  } catch (error) {
    grpc?.close()
    await app.close()
    throw error
  }
  let stopped: Promise<void> | undefined
  return {
    app,
    url: urlOf(listens ? (app.server.address() as AddressInfo) : { host, port }, scheme),
    take: (socket) => void app.server.emit('connection', socket),
    get grpcPort() {
      return grpc?.port
    },
    takeGrpc: (socket) => grpc?.take(socket),
    get keyed() {
      return context.registry.keyed
    },
    setLogLevel: (level, forSeconds) => context.logLevel.set(level, forSeconds),
    stop: () => (stopped ??= stopServer(server, grpc)),
  }
}

async function stopServer({ app, context, connections }: BuiltServer, grpc?: GrpcPort): Promise<void> {
  const { shutdownTimeoutMs, drainMs } = context.settings
  context.stopping = true
  const graceMs = Math.min(shutdownTimeoutMs * BREAK_OFF_SHARE, BREAK_OFF_MAX_MS)
  const breakOff = later(() => context.imports.breakOff(), shutdownTimeoutMs - graceMs)
  const done = new AbortController()
  const deadline = sleep(shutdownTimeoutMs, undefined, { signal: done.signal })
  const drained = grpc?.drain(shutdownTimeoutMs)
  const finish = async () => {
    // First, clients on open connections get a response that says so: a connection that just closes looks like a
    // failure.
    if (connections.count > 0) await sleep(Math.min(drainMs, shutdownTimeoutMs / 4))
    // Fastify waits only for connections that its own server accepted.
    await Promise.all([app.close(), context.imports.settled(), connections.allClosed(), drained])
  }
  try {
    await Promise.race([finish(), deadline])
  } finally {
    done.abort()
    clearTimeout(breakOff)
    context.imports.breakOff()
    connections.closeAll()
    grpc?.close()
    await app.close()
  }
}

type Place = Pick<AddressInfo, 'address' | 'port'> | { host: string; port: number }

function urlOf(place: Place, scheme: string): string {
  const name = 'host' in place ? place.host : place.address
  return `${scheme}://${isIPv6(name) ? `[${name}]` : name}:${place.port}`
}

function notWithoutKeys(host: string): CatracaError {
  return new CatracaError(
    'CONFIG_INVALID',
    `without any API key the server binds only to a loopback address, not to ${host}: make a key first with \`catraca key create\``,
  )
}
