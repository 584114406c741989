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
 * One lock for all processes and threads that use an LMDB environment. A thread holds it while it commits, and while
 * it opens the environment.
 *
 * The LMDB inside the package `lmdb` needs it. A process that opens an environment resets the shared number of the
 * last transaction to the one that it read a moment before, without taking the writers' lock (OpenLDAP ITS#9496). If
 * another process commits in that moment, the next commit overwrites that commit. See docs/adr/0028-commit-lock.md.
 *
 * The lock is the write lock of a second environment, in which nothing is ever committed. Its transaction number
 * never changes, so opening it resets nothing. The system frees the lock when its holder dies.
 */
export class CommitLock {
  private constructor(
    private readonly root: RootDatabase,
    private readonly removeOpenMark: () => void,
  ) {}

  /**
   * `directory` is that of the environment. `patienceMs`: how long to wait for a stopped process that holds the lock.
   */
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

  /** `lmdb` runs the work even when LMDB did not grant the lock. Then the transaction has no number. */
  private assertHeld(): void {
    const { getWriteTxnId } = this.root as unknown as { getWriteTxnId(): number }
    if (getWriteTxnId.call(this.root) === 0)
      throw new CatracaError('STORE_UNUSABLE', 'the lock of the store is broken')
  }

  close(): Promise<void> {
    this.removeOpenMark()
    return this.root.close()
  }
}

/** Temporary stores have no lock, because no other process opens them. */
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

/** Waiting for the lock blocks the thread and cannot be cancelled, so a child process finds out whether it is free. */
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
  // If the child process could not be run, nothing is known.
  if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ETIMEDOUT') return
  throw new CatracaError(
    'STORE_IN_USE',
    `process ${stopped.join(', ')} has ${path} open, is stopped and keeps its lock: let it go on (kill -CONT), or end it`,
  )
}
