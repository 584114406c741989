import { existsSync, linkSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CatracaError } from '../../errors.js'
import { inspectDataFile } from './data-file.js'
import { openLmdb } from './lmdb.js'
import { lockHolders, processesWithFile } from './open-processes.js'

/**
 * The layout of a data directory. Version 0.1.0 kept the store in `data.mdb`, and knows nothing of the commit lock: it
 * must never open a store that this version uses. So the store is in `main/`, and under the old name there is a small
 * store that says that it is of format 2. Version 0.1.0 opens that one, says STORE_NEWER_VERSION and ends.
 */
export const MAIN = 'main'

export const mainDirectory = (directory: string): string => join(directory, MAIN)

const OLDER_FORMAT = '1'
const FORMAT_FOR_OLDER_VERSIONS = '2'

const SETTINGS = { encoding: 'string', keyEncoding: 'ordered-binary' } as const

/** Brings the directory into the layout above. The caller holds the commit lock of `main/`. */
export function arrangeDirectory(directory: string): void {
  const sign = join(directory, 'data.mdb')
  const store = join(mainDirectory(directory), 'data.mdb')
  const [signInode, storeInode] = [inodeOf(sign), inodeOf(store)]
  if (signInode !== undefined && storeInode !== undefined && signInode !== storeInode) return
  const isOlder = signInode !== undefined
  if (isOlder) adopt(directory, sign, store)
  putSign(directory, sign)
  if (isOlder) refuseLateOpener(directory, sign, store)
}

/** For those who only read, and leave the directory as it is. */
export function refuseOlderLayout(directory: string): void {
  if (!existsSync(join(directory, 'data.mdb')) || existsSync(join(mainDirectory(directory), 'data.mdb')))
    return
  throw new CatracaError(
    'STORE_UNUSABLE',
    `${directory} is as version 0.1.0 left it: stop that version, then run any other command on the store, such as "catraca allowlist list"`,
  )
}

/** A store of version 0.1.0 gets a second name: under the first one that version can still open it. */
function adopt(directory: string, old: string, store: string): void {
  refuseOlderVersion(directory)
  inspectDataFile(old)
  const format = formatOf(directory, old)
  if (format === FORMAT_FOR_OLDER_VERSIONS)
    throw new CatracaError('STORE_CORRUPT', `${store} is missing: restore a backup`)
  if (format !== OLDER_FORMAT)
    throw new CatracaError(
      'STORE_NEWER_VERSION',
      `${old} was written in format ${format}, which is not known here`,
    )
  if (!existsSync(store)) linkSync(old, store)
}

/** In one step, so that at every moment version 0.1.0 finds either its own store or the sign. */
function putSign(directory: string, sign: string): void {
  inDraft(directory, (draft) => {
    const root = openLmdb({ path: draft, noSubdir: false, maxDbs: 1, overlappingSync: false })
    root.openDB('settings', SETTINGS).putSync('format', FORMAT_FOR_OLDER_VERSIONS)
    void root.close()
    renameSync(join(draft, 'data.mdb'), sign)
  })
}

/** Version 0.1.0 may have opened its store in the last moment before it found the sign: then it keeps the store. */
function refuseLateOpener(directory: string, sign: string, store: string): void {
  try {
    refuseOlderVersion(directory)
  } catch (error) {
    renameSync(store, sign)
    throw error
  }
}

/** Whoever has the store open under its old name does not take part in the commit lock. */
function refuseOlderVersion(directory: string): void {
  const files = ['data.mdb', 'lock.mdb'].map((name) => join(realpathSync(directory), name))
  const pids = new Set([
    ...processesWithFile((path) => files.includes(path)),
    ...lockHolders(join(directory, 'lock.mdb')),
  ])
  if (pids.size === 0) return
  throw new CatracaError(
    'STORE_IN_USE',
    `${directory} is open in process ${[...pids].join(', ')}, which runs version 0.1.0: stop it first, the two must not share a store`,
  )
}

/** Read under another name, so that the locks of version 0.1.0 are not touched. */
function formatOf(directory: string, old: string): string | undefined {
  return inDraft(directory, (draft) => {
    linkSync(old, join(draft, 'data.mdb'))
    const root = openLmdb({ path: draft, noSubdir: false, maxDbs: 64, readOnly: true })
    try {
      return root.openDB('settings', SETTINGS)?.get('format')
    } finally {
      void root.close()
    }
  })
}

function inDraft<T>(directory: string, work: (draft: string) => T): T {
  const draft = mkdtempSync(join(mainDirectory(directory), 'draft-'))
  try {
    return work(draft)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino
