import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { identifier } from '../../../core/identifiers.js'
import type { ImportOptions, ImportResult } from '../../../guards/allowlist/types.js'
import { IMPORT_STATUS, IMPORTS } from '../../../wire/allowlist/members.js'
import { isYes } from '../../../wire/common.js'
import { takesItsTime } from '../../http/connection-timeouts.js'
import type { ServerContext } from '../../http/context.js'
import { onClientDisconnect } from '../../http/disconnect.js'
import type { App } from '../../http/instance.js'
import { importInBackground } from '../../imports/background.js'
import { bodyChunks, bodyKind } from '../../imports/body.js'
import { addRoutes, type RequestOf } from '../add-routes.js'

export function importRoutes(app: App, context: ServerContext): void {
  // A separate scope in which no body is parsed: the body is a stream, and `bodyKind` checks its type.
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (request, _body, done) => {
      takesItsTime(request.raw)
      done(null)
    })
    addRoutes(scope, context, IMPORTS, {
      importMembers: async (request, reply) => {
        const isAsync = isYes(request.query.async)
        const options = importOptions(request)
        if (!isAsync) return importNow(context, request, reply, options)
        const importId = identifier('importId', options.importId ?? randomUUID())
        await importInBackground(context, request, { ...options, importId })
        reply.code(202).header('location', `/allowlists/${request.params.id}/imports/${importId}`)
        return { importId, status: 'running' as const }
      },
    })
  })
  addRoutes(app, context, IMPORT_STATUS, {
    listImports: async ({ params, query }) => ({
      items: await context.catraca.allowlists.imports(params.id, query),
    }),
    getImport: ({ params }) => context.catraca.allowlists.importStatus(params.id, params.importId),
  })
}

type ImportRequest = RequestOf<typeof IMPORTS.importMembers>

function importOptions({ raw, query }: ImportRequest): ImportOptions {
  const { async: _, format, ...options } = query
  return { ...options, ...bodyKind(raw, format) }
}

async function importNow(
  context: ServerContext,
  request: ImportRequest,
  reply: FastifyReply,
  options: ImportOptions,
): Promise<ImportResult> {
  const { id } = request.params
  const clientGone = new AbortController()
  onClientDisconnect(request.raw, reply.raw, () => clientGone.abort(new Error('the client disconnected')))
  const { allowlists } = context.catraca
  try {
    return await context.imports.run(
      (signal) => allowlists.import(id, bodyChunks(request.raw), { ...options, signal }),
      clientGone.signal,
    )
  } catch (error) {
    throw context.imports.brokenOff ? stoppedMidway(error) : error
  }
}

/** The input is not at fault, so the error must not say so. */
function stoppedMidway(error: unknown): unknown {
  if (!isCatracaError(error, 'IMPORT_INTERRUPTED') && !isCatracaError(error, 'ABORTED')) return error
  const { facts } = error
  return new CatracaError('SHUTTING_DOWN', 'the server stopped during the import; resume it', {
    cause: error,
    ...(facts === undefined ? {} : { facts }),
  })
}
