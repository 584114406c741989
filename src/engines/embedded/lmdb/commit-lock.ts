import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RootDatabase } from 'lmdb'
import { CatracaError } from '../../../core/errors.js'
import { ABORT, type LmdbOptions, openLmdb } from './open-lmdb.js'
import { markOpenedBy, processesAt } from './open-marks.js'
import { isStopped } from './open-processes.js'
import { makeDirectory } from './private-files.js'

/**
 * One lock of all processes and threads that use an LMDB environment. It is held by whoever commits, and by whoever
 * opens the environment.
 *
 * The LMDB inside the package `lmdb` needs it: an opening process sets the shared number of the last transaction back to
 * the one that it read a moment before, without the lock of the writers (OpenLDAP ITS#9496). A commit in that moment is
 * overwritten by the next one. See docs/adr/0028-commit-lock.md.
 *
 * The lock is the write lock of a second environment, in which nothing is ever committed: its number never changes, so
 * opening it sets nothing back. The system frees the lock when its holder dies.
 */
export class CommitLock {
  private constructor(
    private readonly root: RootDatabase,
    private readonly takeDownNameplate: () => void,
  ) {}

  /** `directory` is the one of the environment. A stopped process that holds the lock is waited for so long. */
  static open(directory: string, patienceMs = Number.POSITIVE_INFINITY): CommitLock {
    const path = join(directory, 'commit-lock')
    makeDirectory(path)
    if (patienceMs < Number.POSITIVE_INFINITY) refuseStoppedHolder(path, patienceMs)
    const takeDown = markOpenedBy(path)
    try {
      return new CommitLock(openLmdb(lockOptions(path)), takeDown)
    } catch (error) {
      takeDown()
      throw error
    }
  }

  hold<T>(work: () => T): T {
    let result: T
    this.root.transactionSync(() => {
      this.assertHeld()
      result = work()
      return ABORT
    })
    return result!
  }

  /** `lmdb` runs the work also where LMDB did not give the lock, and has no number for the transaction then. */
  private assertHeld(): void {
    const { getWriteTxnId } = this.root as unknown as { getWriteTxnId(): number }
    if (getWriteTxnId.call(this.root) === 0)
      throw new CatracaError('STORE_UNUSABLE', 'the lock of the store is broken')
  }

  close(): Promise<void> {
    this.takeDownNameplate()
    return this.root.close()
  }
}

/** Without a lock where there are no other processes. */
export function holding<T>(lock: CommitLock | undefined, work: () => T): T {
  return lock === undefined ? work() : lock.hold(work)
}

export const lockOptions = (path: string): LmdbOptions => ({
  path,
  noSubdir: false,
  maxDbs: 1,
  maxReaders: 1,
  mapSize: 1024 * 1024,
  overlappingSync: false,
})

/** Waiting for the lock blocks the thread and cannot be given up, so another process finds out whether it is free. */
function refuseStoppedHolder(path: string, patienceMs: number): void {
  const stopped = processesAt(path).filter(isStopped)
  if (stopped.length === 0) return
  const probe = fileURLToPath(new URL('./commit-lock-probe.js', import.meta.url))
  const { error } = spawnSync(process.execPath, [probe, path], {
    timeout: patienceMs,
    killSignal: 'SIGKILL',
    stdio: 'ignore',
    env: {},
  })
  // One that could not be run has found out nothing.
  if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ETIMEDOUT') return
  throw new CatracaError(
    'STORE_IN_USE',
    `process ${stopped.join(', ')} has ${path} open, is suspended and holds its lock: resume it (kill -CONT), or kill it`,
  )
}
