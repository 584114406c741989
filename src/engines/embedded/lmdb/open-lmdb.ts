import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb'
import { CatracaError } from '../../../core/errors.js'
import { requirePackage } from '../../../core/packages.js'
import { OWNER_FILE } from './private-files.js'

export const { ABORT, openAsClass } = requirePackage<typeof import('lmdb')>(
  'lmdb',
  'an embedded: or memory: store',
)

const RETRY_FOR_MS = 2000
const LONGEST_PAUSE_MS = 10
/** About how long `lmdb` tries to begin a read transaction. A failure before that has another cause. */
const SAME_NUMBER_AFTER_MS = 5000

export type LmdbOptions = RootDatabaseOptionsWithPath & { path: string }

/** Runs work while a lock is held. */
export type Holding = <T>(work: () => T) => T

/**
 * Opens an LMDB environment. `holding` is held while the environment itself is opened, not while its first
 * transaction waits for a reader slot.
 *
 * The last process that closes an environment destroys its locks. A process that opens it in that moment finds them
 * destroyed ("Invalid argument"). It then closes the environment and opens it again: a process that is alone with the
 * files creates the locks again.
 */
export function openLmdb(options: LmdbOptions, holding: Holding = (work) => work()): RootDatabase {
  if (!options.readOnly) refuseUnwritable(options.path)
  // lmdb has this option, but its types do not.
  const settings = { ...options, permissionsMode: OWNER_FILE }
  const startedAt = performance.now()
  for (;;) {
    // In two steps, because only the first returns an object that can be closed when the second fails.
    const Root = holding(() => openAsClass(settings)) as unknown as new (
      name: null,
      options: object,
    ) => RootDatabase
    try {
      return new Root(null, { ...settings, isRoot: true })
    } catch (error) {
      void Root.prototype.close.call(Object.assign(Object.create(Root.prototype), { isRoot: true }))
      const elapsedMs = performance.now() - startedAt
      if (!(error as Error).message.startsWith('Invalid argument')) throw error
      if (elapsedMs >= SAME_NUMBER_AFTER_MS) throw sameNumber(options.path, error)
      if (elapsedMs >= RETRY_FOR_MS) throw error
      pause(Math.random() * LONGEST_PAUSE_MS)
    }
  }
}

/** LMDB ends the process if it may read its files but not write them. */
function refuseUnwritable(path: string): void {
  for (const file of ['data.mdb', 'lock.mdb'].map((name) => join(path, name)))
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK)
}

/**
 * LMDB identifies readers by process id. If a process of another container has the same id, `lmdb` retries the read
 * for some seconds and then continues without a transaction, which fails with various errors.
 */
export function sameNumber(directory: string, cause: unknown): CatracaError {
  return new CatracaError(
    'STORE_IN_USE',
    `${directory} is open in another container, in a process with the same process id (${process.pid}): let the containers share a process namespace, or give each its own directory`,
    { cause },
  )
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
