import type { Catraca } from '../catraca.js'
import { buildServer } from './app.js'
import type { App } from './context.js'
import type { ServerOptions } from './options.js'

export { type RunningServer, startServer } from './lifecycle.js'
export { createLogger, type LogLevel } from './logger.js'
export { type BootstrapKey, SERVER_DEFAULTS, type ServerOptions } from './options.js'
export { HTTP_STATUS } from './problem.js'
export { type RouteEntry, renderRouteTable } from './route-table.js'

/** The server as a Fastify instance, to be listened with or put inside another. */
export async function createServer(catraca: Catraca, options: ServerOptions = {}): Promise<App> {
  return (await buildServer(catraca, options)).app
}
