import { FLEET } from '../../../wire/server.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function fleetRoutes(app: App, context: ServerContext): void {
  addRoutes(app, context, FLEET, { getFleet: () => context.catraca.fleet.list() })
}
