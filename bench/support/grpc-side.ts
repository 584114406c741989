import { Server, ServerCredentials } from '@grpc/grpc-js'
import { pino } from 'pino'
import { openCatraca } from '../../src/app/open-catraca.js'
import { loadGrpc } from '../../src/server/grpc/packages.js'
import { startServer } from '../../src/server/index.js'

/** A server in a process of its own: ours, or one of the same library that answers at once. Tells its processor time when asked. */
const [side = '', store = 'memory:'] = process.argv.slice(2)
const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService'

async function serve(): Promise<number> {
  if (side === 'echo') return serveEcho()
  // Longer than the run: with 1,000 customers, leases of a second would mostly be given back unused.
  const localLease = { tokens: 1_000, ms: 60_000 }
  const limits = side === 'ahead' ? { limits: { localLease } } : {}
  const catraca = await openCatraca({ store, sweepIntervalMs: 0, ...limits })
  // Never used up, so that every call is a decision over the store's counters.
  const requests = { capacity: 1_000_000_000, refillPeriodSeconds: 60 }
  await catraca.limits.setConfig({ level: 'resource', resource: 'edge.customer' }, { limits: { requests } })
  const logger = pino({ level: 'silent' })
  const server = await startServer(catraca, { port: 0, logger, grpc: { port: 0 } })
  return server.grpcPort!
}

/** As the library comes, with our descriptions. */
function serveEcho(): Promise<number> {
  const server = new Server()
  const status = {
    code: 1,
    currentLimit: { name: 'requests', requestsPerUnit: 1_000_000_000, unit: 2 },
    limitRemaining: 5,
    durationUntilReset: { seconds: 1, nanos: 0 },
  }
  const definition = loadGrpc().services[SERVICE] as Parameters<Server['addService']>[0]
  server.addService(definition, {
    ShouldRateLimit: (_call: unknown, answer: (error: null, response: unknown) => void) =>
      answer(null, { overallCode: 1, statuses: [status] }),
  })
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  )
}

let before = process.cpuUsage()
process.on('message', (asked) => {
  if (asked === 'begin') before = process.cpuUsage()
  const { user, system } = process.cpuUsage(before)
  process.send!({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))
process.send!({ port: await serve() })
