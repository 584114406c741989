import { createHash, randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'

const DIGEST_BYTES = 32

/** The bytes of a file are not those that were written. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'
}

/** Writes a file that only this user can read, as a whole or not at all, behind a digest of its bytes. */
export async function writeChecked(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.write(digestOf(bytes))
      await file.writeFile(bytes)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Undefined if there is no such file. */
export async function readChecked(path: string): Promise<Buffer | undefined> {
  let all: Buffer
  try {
    all = await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const bytes = all.subarray(DIGEST_BYTES)
  if (all.length < DIGEST_BYTES || !digestOf(bytes).equals(all.subarray(0, DIGEST_BYTES)))
    throw new DamagedFile(`${path} is damaged`)
  return bytes
}

const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
