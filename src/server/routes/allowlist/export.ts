import { Readable } from 'node:stream'
import { CatracaError } from '../../../core/errors.js'
import type { ExportFormat } from '../../../guards/allowlist/types.js'
import { preferred } from '../../http/accept.js'
import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

/** Formats by media type; the first one is the default. */
const FORMATS: Record<string, { format: ExportFormat; extension: string }> = {
  'text/csv': { format: 'csv', extension: 'csv' },
  'application/x-ndjson': { format: 'ndjson', extension: 'ndjson' },
  'text/plain': { format: 'text', extension: 'txt' },
}
const MEDIA_TYPES = Object.keys(FORMATS)

export function exportRoutes(app: App, { catraca: { allowlists } }: ServerContext): void {
  app.get(
    '/allowlists/:id/export',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['import and export'],
        operationId: 'exportMembers',
        summary: 'Export the members, in the format asked by `Accept`',
        params: Type.Object({ id: schemas.listId }, { additionalProperties: false }),
        querystring: Type.Object(
          {
            spreadsheet: Type.Optional(
              schemas.oneOf(
                ['0', '1', 'false', 'true'],
                'CSV for spreadsheets: a cell that looks like a formula gets an apostrophe in front',
              ),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          ...answers({}),
          200: {
            description: 'The members, as a stream',
            content: Object.fromEntries(MEDIA_TYPES.map((type) => [type, { schema: Type.String() }])),
          },
        },
      },
    },
    async (request, reply) => {
      const mediaType = preferred(request.headers.accept, MEDIA_TYPES)
      if (mediaType === undefined) {
        throw new CatracaError('NOT_ACCEPTABLE', `an export can be ${MEDIA_TYPES.join(', ')}`)
      }
      const { format, extension } = FORMATS[mediaType]!
      const { id } = request.params
      const spreadsheet = request.query.spreadsheet === '1' || request.query.spreadsheet === 'true'
      const body = await started(allowlists.export(id, { format, spreadsheet }))
      reply.header('content-type', `${mediaType}; charset=utf-8`)
      reply.header('content-disposition', `attachment; filename="${id}.${extension}"`)
      return reply.send(Readable.from(body, { objectMode: false, highWaterMark: 64 * 1024 }) as never)
    },
  )
}

/** Reads the first chunk before anything is sent, so that a missing list can still be a 404. */
async function started(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    try {
      if (first.done) return
      yield first.value
      yield* { [Symbol.asyncIterator]: () => iterator }
    } finally {
      await iterator.return?.()
    }
  })()
}
