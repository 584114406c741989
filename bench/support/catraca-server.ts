import { openCatraca } from '../../src/catraca.js'
import { createLogger, startServer } from '../../src/server/index.js'
import { serveParent } from './pinned.js'

/** The product on the store given, with API keys as they are there, and one request in a hundred logged. */
const catraca = await openCatraca({ store: process.argv[2]! })
await catraca.ready
const server = await startServer(catraca, { port: 0, accessLogSampling: 0.01, logger: createLogger() })
serveParent(server.url)
