import { openCatraca } from '../../src/app/open-catraca.js'
import { createLogger, startServer } from '../../src/server/index.js'
import { serveParent } from './pinned.js'

/**
 * The product on the store given, with API keys as they are there, and one request in a hundred logged. Metrics are
 * counted, as by default, unless an argument is `metrics-off`. With `fast-path-off` the framework answers all.
 */
const metrics = !process.argv.includes('metrics-off')
const checkFastPath = process.argv.includes('fast-path-off') ? 'off' : 'connection'
const catraca = await openCatraca({ store: process.argv[2]!, metrics: { enabled: metrics } })
await catraca.ready
const options = { port: 0, accessLogSampling: 0.01, logger: createLogger(), metrics, checkFastPath } as const
const server = await startServer(catraca, options)
serveParent(server.url)
