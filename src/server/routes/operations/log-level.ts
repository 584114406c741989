import type { App, ServerContext } from '../../http/context.js'
import { LOG_LEVELS } from '../../http/logger.js'
import { Type } from '../../http/typebox.js'
import * as schemas from '../allowlist/schemas.js'
import { answers } from '../responses.js'

const tags = ['operations']
const closed = { additionalProperties: false } as const
const DAY_SECONDS = 86_400

const level = schemas.oneOf(LOG_LEVELS, 'Lowest severity that is logged')
const state = Type.Object(
  {
    level: Type.String(),
    configured: Type.String({ description: 'The level after a restart' }),
    until: Type.Optional(Type.String({ description: 'When the level returns to the configured one' })),
  },
  closed,
)

export function logLevelRoutes(app: App, { logLevel, settings, gate }: ServerContext): void {
  app.get(
    '/log-level',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getLogLevel',
        summary: 'Read the log level',
        response: answers({ 200: { description: 'The level', schema: state } }),
      },
    },
    async () => logLevel.read(),
  )

  app.put(
    '/log-level',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'setLogLevel',
        summary: 'Change the log level, for a time or until the restart',
        body: Type.Object(
          { level, forSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: DAY_SECONDS })) },
          closed,
        ),
        response: answers({ 200: { description: 'The level', schema: state } }),
      },
    },
    async ({ body, raw }) => {
      logLevel.set(body.level, body.forSeconds, gate.principal(raw)?.name)
      settings.onLogLevel(body.level, body.forSeconds)
      return logLevel.read()
    },
  )
}
