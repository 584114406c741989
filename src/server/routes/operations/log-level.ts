import { LOG_LEVEL } from '../../../wire/operations.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

export function logLevelRoutes(app: App, context: ServerContext): void {
  const { logLevel, settings, gate } = context
  addRoutes(app, context, LOG_LEVEL, {
    getLogLevel: () => logLevel.read(),
    setLogLevel: ({ body, raw }) => {
      logLevel.set(body.level, body.forSeconds, gate.principal(raw)?.name)
      settings.onLogLevel(body.level, body.forSeconds)
      return logLevel.read()
    },
  })
}
