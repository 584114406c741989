import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { invalid, isCatracaError } from '../../../core/errors.js'
import type { ImportMode } from '../../../guards/allowlist/types.js'
import type { Target } from './target.js'

/** The source of the rows. */
export interface ImportSource {
  readonly name: string
  readonly sizeBytes: number | undefined
  /** Identifies the content; undefined for a stream. */
  readonly identity: string | undefined
  /** Reads from the beginning. Can be called again only if `identity` is set. */
  open(): AsyncIterable<Uint8Array>
  /** Releases an input that was not read to its end: it would keep the process alive. */
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
  // The content of a pipe or a device cannot be identified in advance.
  if (!facts.isFile()) return { name: file, sizeBytes: undefined, identity: undefined, ...access }
  const identity = JSON.stringify([resolve(file), facts.size, facts.mtimeMs])
  return { name: file, sizeBytes: facts.size, identity, ...access }
}

/**
 * The same file gives the same id, so that the same command resumes an interrupted import. A completed import is not
 * resumed: it runs again under the next free id.
 */
export async function chooseImportId(
  allowlists: Target['allowlists'],
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

async function isCompleted(
  allowlists: Target['allowlists'],
  listId: string,
  importId: string,
): Promise<boolean> {
  try {
    return (await allowlists.importStatus(listId, importId)).state === 'completed'
  } catch (error) {
    if (isCatracaError(error, 'IMPORT_NOT_FOUND')) return false
    throw error
  }
}
