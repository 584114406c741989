import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { CatracaError } from '../../../core/errors.js'
import { inspectDataFile } from './data-file.js'
import { openLmdb } from './open-lmdb.js'
import { lockHolders, processesWithFile } from './open-processes.js'
import { OWNER_FILE } from './private-files.js'
import { syncPath } from './sync.js'

/**
 * The layout of a data directory. Version 0.1.0 had the store in `data.mdb` and knows nothing of the commit lock, so
 * it must never open a store that this version uses. So the store is in `v2/`. Under the old name there is the
 * *sign*: a small store that declares format 2. Version 0.1.0 opens the sign, reports STORE_NEWER_VERSION and exits.
 *
 * The name `v2` has a digit, because version 0.1.0 takes every name without one for the file of a secret.
 */
export const MAIN = 'v2'

export const mainDirectory = (directory: string): string => join(directory, MAIN)

const OLDER_FORMAT = '1'
const FORMAT_FOR_OLDER_VERSIONS = '2'
const SETTINGS = { encoding: 'string', keyEncoding: 'ordered-binary' } as const
const DRAFT = 'draft-'

const paths = (directory: string) => ({
  sign: join(directory, 'data.mdb'),
  signLock: join(directory, 'lock.mdb'),
  store: join(mainDirectory(directory), 'data.mdb'),
  /** Identifies the file that was checked to be the sign, so that it is checked only once. */
  signRecord: join(mainDirectory(directory), 'sign'),
  /** The lock file of version 0.1.0 during the takeover of its store. */
  olderLock: join(mainDirectory(directory), 'older-lock.mdb'),
})

/** Whether the directory is as version 0.1.0 left it, or in the middle of a takeover. */
function isOlderLayout(directory: string): boolean {
  const { sign, store } = paths(directory)
  const signFile = idOf(sign)
  return signFile !== undefined && sizeOf(sign) > 0 && (idOf(store) ?? signFile) === signFile
}

/** For read-only commands, which leave the directory as it is. */
export function refuseOlderLayout(directory: string): void {
  if (!isOlderLayout(directory)) return
  const { sign, store, signRecord } = paths(directory)
  if (existsSync(signRecord) && readFileSync(signRecord, 'utf8') === idOf(sign)) throw missing(store)
  throw new CatracaError(
    'STORE_UNUSABLE',
    `${directory} has the layout of version 0.1.0: stop that version, then run any other command on the store, such as "catraca allowlist list"`,
  )
}

/** Takes over a store of version 0.1.0. The caller holds the commit lock of `v2/`. */
export function takeOver(directory: string): void {
  for (const name of readdirSync(mainDirectory(directory)))
    if (name.startsWith(DRAFT)) rmSync(join(mainDirectory(directory), name), { recursive: true, force: true })
  if (!isOlderLayout(directory)) return
  const { sign, signLock, store, olderLock } = paths(directory)
  refuseOpenElsewhere(directory)
  inspectDataFile(sign)
  const format = formatOf(directory, sign) ?? OLDER_FORMAT
  if (format === FORMAT_FOR_OLDER_VERSIONS) throw missing(store)
  if (format !== OLDER_FORMAT)
    throw new CatracaError(
      'STORE_NEWER_VERSION',
      `${sign} was written in format ${format}, which this version does not know`,
    )
  if (!existsSync(store)) linkSync(sign, store)
  // The new name of the store must be on disk before the old name is removed.
  syncPath(mainDirectory(directory))
  // From now on, a process that opens the sign shares no lock with a process that still has the store open.
  if (existsSync(signLock)) renameSync(signLock, olderLock)
  try {
    writeVersionMarker(directory)
    // Version 0.1.0 may have opened its store just before the sign was put there. Then the takeover is undone.
    refuseOpenElsewhere(directory)
  } catch (error) {
    renameSync(store, sign)
    if (existsSync(olderLock)) renameSync(olderLock, signLock)
    throw error
  }
  rmSync(olderLock, { force: true })
}

/** Makes sure that version 0.1.0 finds the sign and nothing else. The store is in `v2/` already. */
export function ensureVersionMarker(directory: string): void {
  const { sign, signRecord } = paths(directory)
  const found = idOf(sign)
  if (found === undefined || sizeOf(sign) === 0) writeVersionMarker(directory)
  else if (!existsSync(signRecord) || readFileSync(signRecord, 'utf8') !== found) {
    if (formatOf(directory, sign) !== FORMAT_FOR_OLDER_VERSIONS)
      throw new CatracaError(
        'STORE_CORRUPT',
        `${directory} holds two stores: ${sign}, of version 0.1.0, and ${mainDirectory(directory)}: move one of them away`,
      )
    writeFileSync(signRecord, found, { mode: OWNER_FILE })
  }
}

/** In one step, so that version 0.1.0 always finds either its own store or the sign. */
export function writeVersionMarker(directory: string): void {
  const { sign, signRecord } = paths(directory)
  inDraft(directory, (draft) => {
    const root = openLmdb({ path: draft, noSubdir: false, maxDbs: 1, overlappingSync: false })
    root.openDB('settings', SETTINGS).putSync('format', FORMAT_FOR_OLDER_VERSIONS)
    void root.close()
    renameSync(join(draft, 'data.mdb'), sign)
  })
  syncPath(directory)
  writeFileSync(signRecord, idOf(sign)!, { mode: OWNER_FILE })
}

/** Called before anything is created in the directory. */
export function refuseOlderVersion(directory: string): void {
  if (isOlderLayout(directory)) refuseOpenElsewhere(directory)
}

/** A process that has a lock file of the old layout open does not use the commit lock. */
function refuseOpenElsewhere(directory: string): void {
  const { signLock, olderLock } = paths(directory)
  const files = ['lock.mdb', join(MAIN, 'older-lock.mdb')].map((name) => join(realpathSync(directory), name))
  const pids = new Set([
    ...processesWithFile((path) => files.includes(path)),
    ...lockHolders(signLock),
    ...lockHolders(olderLock),
  ])
  if (pids.size === 0) return
  throw new CatracaError(
    'STORE_IN_USE',
    `${directory} is open in process ${[...pids].join(', ')}, which runs version 0.1.0: stop it first, the two must not share a store`,
  )
}

function missing(store: string): CatracaError {
  return new CatracaError('STORE_CORRUPT', `${store} is missing: restore a backup`)
}

/** Read under another name, so that the locks of version 0.1.0 are not touched. */
function formatOf(directory: string, file: string): string | undefined {
  return inDraft(directory, (draft) => {
    linkSync(file, join(draft, 'data.mdb'))
    const root = openLmdb({ path: draft, noSubdir: false, maxDbs: 64, readOnly: true })
    try {
      return root.openDB('settings', SETTINGS)?.get('format')
    } finally {
      void root.close()
    }
  })
}

function inDraft<T>(directory: string, work: (draft: string) => T): T {
  const draft = mkdtempSync(join(mainDirectory(directory), DRAFT))
  try {
    return work(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function idOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino}`
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
