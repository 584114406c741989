import { Readable } from 'node:stream'
import { CatracaError } from '../../../core/errors.js'
import type { ExportFormat } from '../../../guards/allowlist/types.js'
import { EXPORTS } from '../../../wire/allowlist/members.js'
import { preferred } from '../../http/accept.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

type MediaType = (typeof EXPORTS.exportMembers.answers)[200][1][number]

const FORMATS: Record<MediaType, { format: ExportFormat; extension: string }> = {
  'text/csv': { format: 'csv', extension: 'csv' },
  'application/x-ndjson': { format: 'ndjson', extension: 'ndjson' },
  'text/plain': { format: 'text', extension: 'txt' },
}
const [, MEDIA_TYPES] = EXPORTS.exportMembers.answers[200]

export function exportRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca
  addRoutes(app, context, EXPORTS, {
    exportMembers: async ({ params: { id }, query, headers }, reply) => {
      const mediaType = preferred(headers.accept, MEDIA_TYPES)
      if (mediaType === undefined) {
        throw new CatracaError('NOT_ACCEPTABLE', `an export can be ${MEDIA_TYPES.join(', ')}`)
      }
      const { format, extension } = FORMATS[mediaType as MediaType]
      const spreadsheet = query.spreadsheet === '1' || query.spreadsheet === 'true'
      const body = await started(allowlists.export(id, { format, spreadsheet }))
      reply.header('content-type', `${mediaType}; charset=utf-8`)
      reply.header('content-disposition', `attachment; filename="${id}.${extension}"`)
      return reply.send(Readable.from(body, { objectMode: false, highWaterMark: 64 * 1024 }))
    },
  })
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
