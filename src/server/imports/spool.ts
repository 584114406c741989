import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { CatracaError } from '../../core/errors.js'

/** A body that was written to a file. The receiver must dispose of it. */
export interface SpooledBody {
  read(): AsyncIterable<Uint8Array>
  dispose(): Promise<void>
}

/** Writes a whole body to a file. */
export async function spool(body: AsyncIterable<Uint8Array>, directory: string): Promise<SpooledBody> {
  const file = await openNameless(directory)
  try {
    for await (const chunk of body) await writeAll(file, chunk)
  } catch (error) {
    await file.close()
    throw isDiskFull(error) ? spoolFull(directory, error) : error
  }
  return {
    read: () => file.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 }),
    dispose: () => file.close(),
  }
}

/** The file is unlinked at once, so its space is freed when the process ends, even after a crash. */
async function openNameless(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, `catraca-import-${randomBytes(12).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    done += (await file.write(chunk, done)).bytesWritten
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}

function spoolFull(directory: string, cause: unknown): CatracaError {
  return new CatracaError('STORE_FULL', `no space for the body in the spool directory ${directory}`, {
    cause,
  })
}
