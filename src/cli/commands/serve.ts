import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { storeOf } from '../../config/load.js'
import type { Config } from '../../config/schema.js'
import { CatracaError } from '../../core/errors.js'
import { reportFailuresTo } from '../../core/timers.js'
import { storeFacts } from '../../engines/registry.js'
import { note } from '../output/print.js'
import { serverOptions, servingOptions } from '../settings.js'
import { takeConnections } from '../workers/connections.js'
import { broadcastLogLevel, followLogLevel, superviseWorkers } from '../workers/index.js'
import { shareMetrics } from '../workers/metrics.js'
import { type ConfigOptions, configOf, configOption, settingOption } from './support/session.js'
import { closeInTime, stopBy, stopSignal } from './support/stop-signal.js'
import { holdYoungGeneration } from './support/young-generation.js'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the HTTP API')
    .addOption(settingOption('server.host', 'address'))
    .addOption(settingOption('server.port', 'port'))
    .addOption(settingOption('grpc.port', 'port'))
    .addOption(settingOption('store', 'url'))
    .addOption(settingOption('server.workers', 'count'))
    .addOption(configOption())
    .action(serve)
}

async function serve(options: ConfigOptions): Promise<void> {
  const config = configOf(options, {
    store: 'store',
    'server.host': 'host',
    'server.port': 'port',
    'grpc.port': 'grpcPort',
    'server.workers': 'workers',
  })
  const { workers, shutdownTimeoutMs, logHashKey } = config.server
  if (workers === 1 || cluster.isWorker) return serveHere(config)
  const stores = (Object.keys(config.stores) as (keyof Config['stores'])[]).map((name) =>
    storeOf(config, name),
  )
  if (stores.some((store) => storeFacts(store).isPrivate)) {
    throw new CatracaError('CONFIG_INVALID', 'a memory: store belongs to one process: --workers must be 1')
  }
  // One key for all workers, so that the hash of a customer is the same in all of them.
  const shared = logHashKey.read() === undefined ? { CATRACA_LOG_HASH_KEY: randomUUID() } : {}
  const { host, port } = config.server
  const grpc = config.grpc.port === undefined ? undefined : { host, port: config.grpc.port }
  await superviseWorkers(workers, { http: { host, port }, grpc }, shutdownTimeoutMs, shared).catch(
    (error) => {
      throw listenFailure(error, config)
    },
  )
}

async function serveHere(config: Config): Promise<void> {
  // Registered first: a script that reads the greeting may stop the server at once.
  const stopAsked = stopSignal()
  const letGrow = holdYoungGeneration()
  // Imported here: other commands must not load the server.
  const [{ openCatraca }, { startServer }, { createLogger }, { EmfReporter }] = await Promise.all([
    import('../../app/open-catraca.js'),
    import('../../server/index.js'),
    import('../../server/http/logger.js'),
    import('../../metrics/index.js'),
  ])
  const logger = createLogger(config.server.logLevel)
  reportFailuresTo((error) => logger.error({ err: error }, 'background work failed'))
  const catraca = await openCatraca({
    ...servingOptions(config, storeOf(config, 'allowlists')),
    onReport: (message, error) => logger.warn({ err: error }, message),
  })
  const { enabled, emf } = config.metrics
  const reporter = enabled && emf ? new EmfReporter(catraca) : undefined
  const { shutdownTimeoutMs } = config.server
  let byMs: number | undefined
  let isWarm = false
  void catraca.ready.then(() => {
    isWarm = true
  })
  // If it fails, the first call reports it. Threads would take 26 MB of a server that nobody asks for limits.
  if (!storeFacts(storeOf(config, 'limits')).startsThreads) catraca.limits.warmUp().catch(() => {})
  try {
    const ready = () => isWarm
    const sharing = cluster.isWorker ? { shareMetrics, listens: false } : {}
    const options = { ...serverOptions(config), ...sharing, logger, ready, onLogLevel: broadcastLogLevel }
    const server = await startServer(catraca, options).catch((error) => {
      throw listenFailure(error, config)
    })
    followLogLevel(server)
    if (cluster.isWorker) {
      logger.info('serving connections that the supervisor accepts')
      // The worker that the supervisor sends the port to prints the greeting.
      const ports = takeConnections({
        http: (socket) => server.take(socket),
        grpc: (socket) => server.takeGrpc(socket),
      })
      ports.then(({ http, grpc }) => greet(server.keyed, withPort(server.url, http), grpc, catraca.store))
    } else greet(server.keyed, server.url, server.grpcPort, catraca.store)
    letGrow()
    await stopAsked
    byMs = stopBy(shutdownTimeoutMs)
    await server.stop()
  } finally {
    reporter?.stop()
    const tell = (message: string) => logger.warn(message)
    await closeInTime(() => catraca.close(), byMs ?? stopBy(shutdownTimeoutMs), tell)
    if (cluster.isWorker) process.disconnect()
  }
}

function withPort(url: string, port: number): string {
  return url.replace(/:\d+$/, `:${port}`)
}

function greet(keyed: boolean, url: string, grpcPort: number | undefined, store: string): void {
  const key = keyed ? "-H 'Authorization: Bearer YOUR_KEY' " : ''
  note(`Catraca listens on ${url} (store ${store})`)
  if (grpcPort !== undefined) note(`gRPC: ${new URL(url).hostname}:${grpcPort}`)
  note(
    `Try: curl ${key}'${url}/customers/alice/check?allowlists=vip'   API: ${url}/docs   Console: ${url}/console`,
  )
}

const LISTEN_FAILURES: Record<string, string> = {
  EADDRINUSE: 'is in use: choose another with --port',
  EACCES: 'needs privileges that this process lacks',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not an address of this machine',
}

function listenFailure(error: unknown, { server }: Config): unknown {
  const { code = '', port = server.port } = error as NodeJS.ErrnoException & { port?: number }
  const why = Object.hasOwn(LISTEN_FAILURES, code) ? LISTEN_FAILURES[code] : undefined
  if (why === undefined) return error
  return new CatracaError(
    'CONFIG_INVALID',
    `${server.host}:${port} ${port === server.port ? why : why.replace('--port', '--grpc-port')}`,
    { cause: error },
  )
}
