import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CatracaError } from '../../../core/errors.js'

/** Increased when the layout of backups changes. */
export const BACKUP_FORMAT = 1
export const MANIFEST = 'manifest.json'
/** Relative paths without `..` or names that begin with a dot. */
const INSIDE = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/

/**
 * `limits/boot` and `cache/boot` belong to the boot during which the backup was made. A restore renames them to its
 * current boot.
 */
export interface BackupFile {
  path: string
  sizeBytes: number
  sha256: string
  /** The file is a snapshot taken between this time and the end of the backup. */
  snapshotAt: string
}

export interface Manifest {
  kind: 'catraca-backup'
  format: number
  /** The version of Catraca that made the backup. */
  catraca: string
  /** Version of the store's layout. */
  storeFormat: number
  startedAt: string
  endedAt: string
  files: BackupFile[]
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Adds a checksum of the manifest itself. */
export function sealManifest(manifest: Manifest): string {
  const checksum = sha256(JSON.stringify(manifest))
  return `${JSON.stringify({ ...manifest, checksum }, null, 2)}\n`
}

export function readManifest(directory: string): Manifest {
  const path = join(directory, MANIFEST)
  if (!existsSync(path))
    throw broken(directory, `there is no ${MANIFEST}: it is not a backup, or not a complete one`)
  let read: Manifest & { checksum: string }
  try {
    read = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw broken(directory, `${MANIFEST} is damaged`)
  }
  const { checksum, ...manifest } = read
  if (manifest.kind !== 'catraca-backup' || sha256(JSON.stringify(manifest)) !== checksum) {
    throw broken(directory, `${MANIFEST} is damaged`)
  }
  if (manifest.format > BACKUP_FORMAT) {
    throw new CatracaError(
      'STORE_NEWER_VERSION',
      `${directory} is a backup of format ${manifest.format}; this version reads up to ${BACKUP_FORMAT}`,
    )
  }
  // The checksum detects damage, not malice: a crafted backup must not write outside the target.
  if (!manifest.files.every(({ path }) => INSIDE.test(path))) {
    throw broken(directory, `${MANIFEST} names a file outside of it`)
  }
  return manifest
}

/** Checks that every file is there and unchanged, and that there are no others. */
export async function verifyFiles(
  directory: string,
  { files }: Manifest,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const named = new Set([MANIFEST, ...files.map(({ path }) => path)])
  for (const path of filesBelow(directory)) {
    if (!named.has(path)) throw broken(directory, `${path} is not part of the backup`)
  }
  for (const file of files) {
    const path = join(directory, file.path)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) throw broken(directory, `${file.path} is missing`)
    const isSame = size === file.sizeBytes && (await hashFile(path, onBytes)) === file.sha256
    if (!isSame) throw broken(directory, `${file.path} was changed since the backup`)
  }
}

export async function hashFile(path: string, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer)
    onBytes((chunk as Buffer).length)
  }
  return hash.digest('hex')
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
}

export function broken(directory: string, why: string): CatracaError {
  return new CatracaError('STORE_CORRUPT', `the backup ${directory} cannot be used: ${why}`)
}
