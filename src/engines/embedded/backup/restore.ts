import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'
import { FORMAT_VERSION } from '../lmdb/environment.js'
import { storeError } from '../lmdb/failures.js'
import { isAlive, openProcesses } from '../lmdb/open-processes.js'
import { SnapshotReader } from '../lmdb/snapshot-reader.js'
import { MAIN, mainDirectory, writeVersionMarker } from '../lmdb/store-directory.js'
import { draftOf, syncTree } from '../lmdb/sync.js'
import { bootName } from '../rate-limit/directory.js'
import { broken, hashFile, type Manifest, readManifest, verifyFiles } from './manifest.js'

interface RestoreOptions {
  /** The backup. */
  source: string
  /** The data directory to create. */
  directory: string
  /** Moves an existing store aside. */
  force: boolean
  onProgress?: (doneBytes: number, totalBytes: number) => void
}

export interface Restored {
  manifest: Manifest
  /** Where the existing store was moved to. */
  movedTo?: string
}

/** Checks a backup without restoring it. */
export async function verifyBackup(
  source: string,
  onProgress: (doneBytes: number, totalBytes: number) => void = () => {},
): Promise<Manifest> {
  const manifest = readManifest(source)
  const totalBytes = manifest.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  let doneBytes = 0
  await verifyFiles(source, manifest, (bytes) => onProgress((doneBytes += bytes), totalBytes))
  if (manifest.storeFormat > FORMAT_VERSION) {
    throw new CatracaError(
      'STORE_NEWER_VERSION',
      `${source} holds a store of format ${manifest.storeFormat}; this version reads up to ${FORMAT_VERSION}`,
    )
  }
  return manifest
}

/** The directory gets its name only when all its files are complete and on disk. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { source, directory, force, onProgress } = options
  // Checked before the long part, and again just before the directory is replaced.
  await refuseTarget(directory, force)
  const manifest = await verifyBackup(source, onProgress)
  const draft = draftOf(directory, 'restoring')
  try {
    for (const file of manifest.files) await bring(source, draft.path, file)
    await refuseUnreadable(draft.path, source)
    syncTree(draft.path)
    await refuseTarget(directory, force)
    const movedTo = moveAside(directory)
    try {
      draft.publish()
    } catch (error) {
      if (movedTo !== undefined) renameSync(movedTo, directory)
      throw error
    }
    return { manifest, ...(movedTo !== undefined && { movedTo }) }
  } catch (error) {
    draft.discard()
    throw moved(error, directory)
  }
}

async function bring(
  source: string,
  draft: string,
  { path, sha256 }: Manifest['files'][number],
): Promise<void> {
  // Counters and caches of another boot are not read, because a crash may have damaged them. The copies in a backup
  // are intact, so they get the name of this boot.
  const place = path
    .replace(/^data\.mdb$/, join(MAIN, 'data.mdb'))
    .replace(/^(limits|cache)\/boot\//, (_, kind: string) => `${kind}/${bootName()}/`)
  const to = join(draft, place)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  copyFileSync(join(source, path), to)
  chmodSync(to, 0o600)
  if ((await hashFile(to, () => {})) !== sha256)
    throw broken(source, `${path} was changed while it was copied`)
}

async function refuseUnreadable(draft: string, source: string): Promise<void> {
  const main = mainDirectory(draft)
  const snapshotReader = SnapshotReader.open(main)
  try {
    if (snapshotReader.text('settings')?.get('format') === undefined)
      throw broken(source, 'it holds no store')
  } finally {
    await snapshotReader.close()
  }
  // The check above created these files. A process that opens the store creates its own.
  for (const made of ['lock.mdb', 'commit-lock']) rmSync(join(main, made), { recursive: true, force: true })
  writeVersionMarker(draft)
}

async function refuseTarget(directory: string, force: boolean): Promise<void> {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) throw new CatracaError('STORE_UNUSABLE', `${directory} is not a directory`)
  const holders = openProcesses(directory, await readersAt(directory)).map(({ pid }) => pid)
  if (holders.length > 0) {
    throw new CatracaError(
      'STORE_UNUSABLE',
      `${directory} is open in process ${holders.join(', ')}: stop it, then restore`,
    )
  }
  if (!force && readdirSync(directory).length > 0) {
    throw new CatracaError(
      'STORE_UNUSABLE',
      `${directory} is not empty: restore into another directory, or move it aside with --force`,
    )
  }
}

async function readersAt(directory: string): Promise<number[]> {
  const main = mainDirectory(directory)
  if (!existsSync(join(main, 'data.mdb'))) return []
  let snapshotReader: SnapshotReader
  try {
    snapshotReader = SnapshotReader.open(main)
  } catch {
    // The store to be replaced may be damaged.
    return []
  }
  const readers = snapshotReader.readers().filter((pid) => pid !== process.pid && isAlive(pid))
  await snapshotReader.close()
  return readers
}

function moveAside(directory: string): string | undefined {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return undefined
  const stamp = new Date().toISOString().replace(/[:.]/g, '-')
  const movedTo = `${directory}.before-${stamp}`
  renameSync(directory, movedTo)
  return movedTo
}

/** A mount point cannot be renamed. */
function moved(error: unknown, directory: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'EBUSY' && code !== 'EXDEV') return storeError(error, directory)
  return new CatracaError(
    'STORE_UNUSABLE',
    `${directory} is a mount point, which cannot be replaced: name a directory below it`,
    { cause: error },
  )
}
