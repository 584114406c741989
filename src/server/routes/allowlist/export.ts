import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { CatracaError } from '../../../core/errors.js'
import type { Scope } from '../../../guards/access/scopes.js'
import type { ExportFormat } from '../../../guards/allowlist/types.js'
import { EXPORTS, SAMPLES } from '../../../wire/allowlist/members.js'
import { isYes } from '../../../wire/common.js'
import { requireLists } from '../../access/reach.js'
import { preferred } from '../../http/accept.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
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
  /** Who is in a wave is a part of its base list, so limited roles must reach that list too. */
  const requireBases = async (request: IncomingMessage, scope: Scope, id: string): Promise<void> => {
    const reach = context.gate.reach(request, scope)
    if (reach === undefined) return
    for (let base = await baseOf(id); base !== undefined; base = await baseOf(base))
      requireLists(reach, [base])
  }
  const baseOf = async (id: string) => (await allowlists.get(id)).config?.base
  addRoutes(app, context, SAMPLES, {
    sampleWave: async ({ params, query, raw }) => {
      await requireBases(raw, SAMPLES.sampleWave.scope, params.id)
      return allowlists.sample(params.id, query)
    },
  })
  addRoutes(app, context, EXPORTS, {
    exportMembers: async ({ params: { id }, query, headers, raw }, reply) => {
      await requireBases(raw, EXPORTS.exportMembers.scope, id)
      const mediaType = preferred(headers.accept, MEDIA_TYPES)
      if (mediaType === undefined) {
        throw new CatracaError('NOT_ACCEPTABLE', `an export can be ${MEDIA_TYPES.join(', ')}`)
      }
      const { format, extension } = FORMATS[mediaType as MediaType]
      const spreadsheet = isYes(query.spreadsheet)
      const body = await started(allowlists.export(id, { format, spreadsheet }))
      reply.header('content-type', `${mediaType}; charset=utf-8`)
      reply.header('content-disposition', `attachment; filename="${id}.${extension}"`)
      return reply.send(Readable.from(body, { objectMode: false, highWaterMark: 64 * 1024 }))
    },
  })
}

/** Reads the first chunk before anything is sent, so that a missing list can still be a 404. */
export async function started(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
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
