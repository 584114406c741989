import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'
import { every } from '../../../core/timers.js'
import { FORMAT_VERSION } from '../lmdb/environment.js'
import { storeError } from '../lmdb/failures.js'
import { SnapshotReader } from '../lmdb/snapshot-reader.js'
import { MAIN, mainDirectory, refuseOlderLayout } from '../lmdb/store-directory.js'
import { secretFiles } from '../lmdb/stored-secret.js'
import { draftOf, syncTree } from '../lmdb/sync.js'
import { bootName } from '../rate-limit/directory.js'
import {
  BACKUP_FORMAT,
  type BackupFile,
  hashFile,
  MANIFEST,
  type Manifest,
  sealManifest,
} from './manifest.js'

export interface BackupOptions {
  directory: string
  /** The directory to create. It must not exist, or be empty. */
  target: string
  version: string
  /** Include cached entries. A restore then brings back entries that were removed from the cache since the backup. */
  withCache: boolean
  onProgress?: (doneBytes: number, totalBytes: number) => void
}

const POLL_MS = 200
const OWNER_ONLY = 0o600

interface Part {
  /** The path of the environment, in the store and in the backup. */
  from: string
  to: string
}

/**
 * Copies the environments one after the other, each as one snapshot: first the counters, then the main environment,
 * then the secrets. So everything in the main environment has its secret (a code has its pepper). Counters may be a
 * little older than the rest, so a restored store may admit a little more, and never denies more.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { directory, target } = options
  refuseTaken(target)
  const parts = partsOf(options)
  const draft = draftOf(target, 'partial')
  try {
    const manifest = await copyAll(options, parts, draft.path)
    writeFileSync(join(draft.path, MANIFEST), sealManifest(manifest), { mode: OWNER_ONLY })
    syncTree(draft.path)
    draft.publish()
    return manifest
  } catch (error) {
    draft.discard()
    throw storeError(error, directory)
  }
}

function refuseTaken(target: string): void {
  const found = statSync(target, { throwIfNoEntry: false })
  if (found === undefined || (found.isDirectory() && readdirSync(target).length === 0)) return
  throw new CatracaError('STORE_UNUSABLE', `${target} is there already: a backup is made under a new name`)
}

function partsOf({ directory, withCache }: BackupOptions): Part[] {
  refuseOlderLayout(directory)
  if (!existsSync(join(mainDirectory(directory), 'data.mdb'))) {
    throw new CatracaError('STORE_UNUSABLE', `${directory} holds no store`)
  }
  const candidates: Part[] = [
    ...(withCache ? [{ from: join('cache', bootName()), to: join('cache', 'boot') }] : []),
    { from: join('limits', 'disk'), to: join('limits', 'disk') },
    { from: join('limits', bootName()), to: join('limits', 'boot') },
    { from: MAIN, to: '' },
  ]
  return candidates.filter(({ from }) => existsSync(join(directory, from, 'data.mdb')))
}

async function copyAll(options: BackupOptions, parts: readonly Part[], draft: string): Promise<Manifest> {
  const { directory, version, onProgress = () => {} } = options
  const startedAt = new Date().toISOString()
  const sizes = parts.map(({ from }) => statSync(join(directory, from, 'data.mdb')).size)
  // Each byte is copied once and read once more for its checksum.
  const totalBytes = 2 * sizes.reduce((sum, size) => sum + size, 0)
  const files: BackupFile[] = []
  let doneBytes = 0
  const advance = (bytes: number): void => onProgress((doneBytes += bytes), totalBytes)
  for (const { from, to } of parts) {
    const snapshotAt = new Date().toISOString()
    mkdirSync(join(draft, to), { recursive: true, mode: 0o700 })
    await copyEnvironment(join(directory, from), join(draft, to), (bytes) =>
      onProgress(doneBytes + bytes, totalBytes),
    )
    const path = join(to, 'data.mdb')
    chmodSync(join(draft, path), OWNER_ONLY)
    doneBytes += statSync(join(draft, path)).size
    files.push(await described(draft, path, snapshotAt, advance))
  }
  for (const name of secretFiles(readdirSync(directory))) {
    copyFileSync(join(directory, name), join(draft, name))
    chmodSync(join(draft, name), OWNER_ONLY)
    files.push(await described(draft, name, new Date().toISOString(), advance))
  }
  const endedAt = new Date().toISOString()
  const format = { format: BACKUP_FORMAT, catraca: version, storeFormat: FORMAT_VERSION }
  return { kind: 'catraca-backup', ...format, startedAt, endedAt, files }
}

async function copyEnvironment(from: string, to: string, onBytes: (bytes: number) => void): Promise<void> {
  const snapshotReader = SnapshotReader.open(from)
  const watch = every(() => {
    onBytes(statSync(join(to, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0)
  }, POLL_MS)
  try {
    await snapshotReader.copyTo(to)
  } finally {
    clearInterval(watch)
    await snapshotReader.close()
  }
}

async function described(
  draft: string,
  path: string,
  snapshotAt: string,
  onBytes: (bytes: number) => void,
): Promise<BackupFile> {
  const sha256 = await hashFile(join(draft, path), onBytes)
  return { path, sizeBytes: statSync(join(draft, path)).size, sha256, snapshotAt }
}
