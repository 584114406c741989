import { LOG_LEVEL } from '../../../wire/server.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { loggedCaller } from '../../http/logged-caller.js'
import { addRoutes } from '../add-routes.js'

export function logLevelRoutes(app: App, context: ServerContext): void {
  const { logLevel, settings, gate } = context
  addRoutes(app, context, LOG_LEVEL, {
    getLogLevel: () => logLevel.read(),
    setLogLevel: ({ body, raw }) => {
      logLevel.set(body.level, body.forSeconds, loggedCaller(gate.principal(raw)))
      settings.onLogLevel(body.level, body.forSeconds)
      return logLevel.read()
    },
  })
}
