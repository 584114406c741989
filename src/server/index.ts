import type { Catraca } from '../app/open-catraca.js'
import { buildServer } from './app.js'
import type { App } from './http/instance.js'
import type { ServerOptions } from './options.js'

export { type RunningServer, startServer } from './http/lifecycle.js'
export { createLogger, type LogLevel } from './http/logger.js'
export { HTTP_STATUS } from './http/problem.js'
export { type RouteEntry, renderRouteTable } from './http/routes-page.js'
export { type BootstrapKey, SERVER_DEFAULTS, type ServerOptions } from './options.js'

/** The server as a Fastify instance, to call `listen` on or to mount inside another instance. */
export async function createServer(catraca: Catraca, options: ServerOptions = {}): Promise<App> {
  return (await buildServer(catraca, options)).app
}
