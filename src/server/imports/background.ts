import type { FastifyRequest } from 'fastify'
import { CatracaError } from '../../core/errors.js'
import type { ImportOptions } from '../../guards/allowlist/types.js'
import type { ServerContext } from '../http/context.js'
import { bodyChunks } from './body.js'
import { type SpooledBody, spool } from './spool.js'

/**
 * Receives the body, starts the import and returns when it runs. An import that is refused (no such list, another one
 * running) fails here, while the client still waits for a response.
 */
export async function importInBackground(
  context: ServerContext,
  request: FastifyRequest,
  options: ImportOptions & { importId: string },
): Promise<void> {
  const { id } = request.params as { id: string }
  const { allowlists } = context.catraca
  // Checked first, so that a client does not upload a huge body for a list that does not exist.
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
        const facts = { requestId: request.id, importId: options.importId, err: error }
        if (admitted) request.log.warn(facts, 'background import failed')
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

/** Calls `begun` when the import reads its first byte: it has been admitted by then. */
async function* announced(spooled: SpooledBody, begun: () => void): AsyncGenerator<Uint8Array> {
  begun()
  yield* spooled.read()
}
