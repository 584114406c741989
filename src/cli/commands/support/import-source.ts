import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { invalid, isCatracaError } from '../../../core/errors.js'
import type { AllowlistsApi } from '../../../guards/allowlist/api.js'
import type { ImportMode } from '../../../guards/allowlist/types.js'

/** Where the rows come from. */
export interface ImportSource {
  readonly name: string
  readonly sizeBytes: number | undefined
  /** Tells this content from another; absent for a stream, which cannot be told apart. */
  readonly identity: string | undefined
  /** Reads from the beginning, and can be called again only where `identity` is there. */
  open(): AsyncIterable<Uint8Array>
  /** Lets go of an input that is not at its end: it would keep the process alive. */
  close(): void
}

const READ_SIZE_BYTES = 1024 * 1024

export async function importSource(file: string): Promise<ImportSource> {
  if (file === '-') {
    return {
      name: 'standard input',
      sizeBytes: undefined,
      identity: undefined,
      open: () => process.stdin,
      close: () => process.stdin.destroy(),
    }
  }
  const facts = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw invalid('file', `${file} cannot be read (${error.code})`)
  })
  if (facts.isDirectory()) throw invalid('file', `${file} is a directory`)
  let stream: ReadStream | undefined
  const access = {
    open: () => (stream = createReadStream(file, { highWaterMark: READ_SIZE_BYTES })),
    close: () => stream?.destroy(),
  }
  // A pipe or a device has no content yet that could be told apart.
  if (!facts.isFile()) return { name: file, sizeBytes: undefined, identity: undefined, ...access }
  const identity = JSON.stringify([resolve(file), facts.size, facts.mtimeMs])
  return { name: file, sizeBytes: facts.size, identity, ...access }
}

/**
 * The same file gives the same id, so that the same command resumes what was interrupted. A completed import
 * is not resumed but done again, under the next free id.
 */
export async function chooseImportId(
  allowlists: AllowlistsApi,
  listId: string,
  mode: ImportMode,
  source: ImportSource,
): Promise<string> {
  if (source.identity === undefined) return `cli-${randomUUID()}`
  const digest = createHash('sha256')
    .update(JSON.stringify([listId, mode, source.identity]))
    .digest('hex')
  const base = `cli-${digest.slice(0, 24)}`
  for (let attempt = 1; ; attempt++) {
    const importId = attempt === 1 ? base : `${base}-${attempt}`
    if (!(await isCompleted(allowlists, listId, importId))) return importId
  }
}

async function isCompleted(allowlists: AllowlistsApi, listId: string, importId: string): Promise<boolean> {
  try {
    return (await allowlists.importStatus(listId, importId)).state === 'completed'
  } catch (error) {
    if (isCatracaError(error, 'IMPORT_NOT_FOUND')) return false
    throw error
  }
}
