import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { identifier } from '../../../core/identifiers.js'
import type { ImportOptions, ImportResult } from '../../../guards/allowlist/types.js'
import { takesItsTime } from '../../http/connection-timeouts.js'
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
    importId: Type.Optional(Type.String({ description: 'Id of the import; the same id resumes it' })),
    addedBy: Type.Optional(
      Type.String({ description: 'Who added the customers, for rows without that field' }),
    ),
    column: Type.Optional(
      Type.String({
        description: 'CSV only: the column with the ids, by its heading or its number from 1',
      }),
    ),
    format: Type.Optional(
      schemas.oneOf(['csv', 'ndjson', 'text'], 'Format of the rows, when the content type does not say it'),
    ),
    maxErrors: Type.Optional(
      Type.Integer({ description: 'How many rejected rows the result lists: up to 1,000; 100 when absent' }),
    ),
    async: Type.Optional(
      schemas.oneOf(['0', '1', 'false', 'true'], 'Respond as soon as the body is received'),
    ),
  },
  closed,
)

export function importRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca

  // A separate scope in which no body is parsed: the body is a stream, and `bodyKind` checks its type.
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (request, _body, done) => {
      takesItsTime(request.raw)
      done(null)
    })
    scope.post(
      '/allowlists/:id/import',
      {
        config: { scope: 'admin' },
        schema: {
          tags,
          operationId: 'importMembers',
          summary: 'Import customers from CSV, NDJSON or one id per line, also gzip, of any size',
          consumes: Object.keys(IMPORT_TYPES),
          params: Type.Object({ id: schemas.listId }, closed),
          querystring: query,
          response: answers({
            200: { description: 'Imported', schema: shared('ImportResult') },
            202: {
              description: 'Received; `Location` has the status of the import',
              schema: schemas.importAccepted,
            },
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
        summary: 'Read the status of an import',
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
