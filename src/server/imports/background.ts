import type { FastifyRequest } from 'fastify'
import { CatracaError } from '../../core/errors.js'
import type { ImportOptions } from '../../guards/allowlist/types.js'
import type { ServerContext } from '../http/context.js'
import { bodyChunks } from './body.js'
import { type SpooledBody, spool } from './spool.js'

/**
 * Receives the body, starts the import and returns as soon as it is under way. An import that is refused
 * (no such list, another one running) fails here, while there is still somebody to tell.
 */
export async function importInBackground(
  context: ServerContext,
  request: FastifyRequest,
  options: ImportOptions & { importId: string },
): Promise<void> {
  const { id } = request.params as { id: string }
  const { allowlists } = context.catraca
  // Asked first, so that nobody uploads a huge body to a list that is not there.
  await allowlists.get(id)
  const spooled = await receive(request, context.settings.spoolDir)
  let admitted = false
  await new Promise<void>((resolve, reject) => {
    const begun = () => {
      admitted = true
      resolve()
    }
    context.imports
      .run((signal) => allowlists.import(id, announced(spooled, begun), { ...options, signal }))
      .then(begun, (error) => {
        reject(error)
        if (admitted) request.log.warn({ importId: options.importId, err: error }, 'background import failed')
      })
      .finally(() => spooled.dispose())
  })
}

async function receive(request: FastifyRequest, spoolDir: string): Promise<SpooledBody> {
  try {
    return await spool(bodyChunks(request.raw), spoolDir)
  } catch (error) {
    if (!request.raw.destroyed) throw error
    throw new CatracaError('IMPORT_INTERRUPTED', 'the body was cut off', { cause: error })
  }
}

/** Tells when the first byte is asked for: the import has then been admitted. */
async function* announced(spooled: SpooledBody, begun: () => void): AsyncGenerator<Uint8Array> {
  begun()
  yield* spooled.read()
}
