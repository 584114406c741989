import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { identifier } from '../../../core/identifiers.js'
import type { ImportOptions, ImportResult } from '../../../guards/allowlist/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { onClientDisconnect } from '../../http/disconnect.js'
import { type Static, Type } from '../../http/typebox.js'
import { importInBackground } from '../../imports/background.js'
import { bodyChunks, bodyKind, IMPORT_TYPES } from '../../imports/body.js'
import { answers, shared } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['import and export']
const closed = { additionalProperties: false } as const
const query = Type.Object(
  {
    mode: Type.Optional(schemas.oneOf(['add', 'replace'], '`add` when absent')),
    importId: Type.Optional(Type.String({ description: 'Names the import, so that it can be resumed' })),
    addedBy: Type.Optional(Type.String({ description: 'Of rows that do not say it themselves' })),
    column: Type.Optional(
      Type.String({
        description: 'Of CSV: the column with the ids, by its heading or its number from 1',
      }),
    ),
    format: Type.Optional(schemas.oneOf(['csv', 'ndjson', 'text'], 'When the content type does not tell')),
    maxErrors: Type.Optional(
      Type.Integer({ description: 'Rejected rows that are told one by one: up to 1,000; 100 when absent' }),
    ),
    async: Type.Optional(
      schemas.oneOf(['0', '1', 'false', 'true'], 'Answer as soon as the body is received'),
    ),
  },
  closed,
)

export function importRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca

  // In its own scope, where every body is left unread: it is a stream, and `bodyKind` judges its type.
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (request, _body, done) => {
      context.bodies.takesItsTime(request.raw)
      done(null)
    })
    scope.post(
      '/allowlists/:id/import',
      {
        config: { scope: 'admin' },
        schema: {
          tags,
          operationId: 'importMembers',
          summary: 'Import customers: CSV, NDJSON or one id a line, gzip too, of any size',
          consumes: Object.keys(IMPORT_TYPES),
          params: Type.Object({ id: schemas.listId }, closed),
          querystring: query,
          response: answers({
            200: { description: 'Imported', schema: shared('ImportResult') },
            202: { description: 'Received; ask at `Location` how far it is', schema: schemas.importAccepted },
          }),
        },
      },
      async (request, reply) => {
        const isAsync = request.query.async === '1' || request.query.async === 'true'
        const options = importOptions(request.raw, request.query)
        if (!isAsync) return importNow(context, request, reply, options)
        const importId = identifier('importId', options.importId ?? randomUUID())
        await importInBackground(context, request, { ...options, importId })
        reply.code(202).header('location', `/allowlists/${request.params.id}/imports/${importId}`)
        return { importId, status: 'running' as const }
      },
    )
  })

  app.get(
    '/allowlists/:id/imports/:importId',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getImport',
        summary: 'How far an import is acknowledged',
        params: Type.Object({ id: schemas.listId, importId: Type.String() }, closed),
        response: answers({ 200: { description: 'Its state', schema: shared('ImportStatus') } }),
      },
    },
    (request) => allowlists.importStatus(request.params.id, request.params.importId),
  )
}

function importOptions(raw: FastifyRequest['raw'], given: Static<typeof query>): ImportOptions {
  const { async: _, format, ...options } = given
  return { ...options, ...bodyKind(raw, format) }
}

async function importNow(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ImportOptions,
): Promise<ImportResult> {
  const { id } = request.params as { id: string }
  const clientGone = new AbortController()
  onClientDisconnect(request.raw, reply.raw, () => clientGone.abort(new Error('the client went away')))
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

/** The input was not at fault, so this must not look like it. */
function stoppedMidway(error: unknown): unknown {
  if (!isCatracaError(error, 'IMPORT_INTERRUPTED') && !isCatracaError(error, 'ABORTED')) return error
  const { facts } = error
  return new CatracaError('SHUTTING_DOWN', 'the server stopped in the middle of the import; resume it', {
    cause: error,
    ...(facts === undefined ? {} : { facts }),
  })
}
