import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ABORT, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { CatracaError } from '../../errors.js'
import { openLmdb } from './lmdb.js'
import { isAlive, isStopped } from './open-processes.js'

const NAMEPLATE = '-open-'

/**
 * One lock of all processes and threads that use an LMDB environment. It is held by whoever commits, and by whoever
 * opens or closes the environment.
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
    /** Tells others which process has the lock open. */
    private readonly nameplate: string,
  ) {}

  /** `directory` is the one of the environment. A stopped process that holds the lock is waited for so long. */
  static open(directory: string, patienceMs = Number.POSITIVE_INFINITY): CommitLock {
    const path = join(directory, 'commit-lock')
    mkdirSync(path, { recursive: true })
    if (patienceMs < Number.POSITIVE_INFINITY) refuseStoppedHolder(path, patienceMs)
    const nameplate = join(path, `${process.pid}${NAMEPLATE}${randomBytes(4).toString('hex')}`)
    writeFileSync(nameplate, '')
    try {
      return new CommitLock(openLmdb(lockOptions(path)), nameplate)
    } catch (error) {
      rmSync(nameplate, { force: true })
      throw error
    }
  }

  hold<T>(work: () => T): T {
    let result: T
    this.root.transactionSync(() => {
      result = work()
      return ABORT
    })
    return result!
  }

  close(): Promise<void> {
    rmSync(this.nameplate, { force: true })
    return this.root.close()
  }
}

/** Without a lock where there are no other processes. */
export function holding<T>(lock: CommitLock | undefined, work: () => T): T {
  return lock === undefined ? work() : lock.hold(work)
}

export const lockOptions = (path: string): RootDatabaseOptionsWithPath => ({
  path,
  noSubdir: false,
  maxDbs: 1,
  maxReaders: 1,
  mapSize: 1024 * 1024,
  overlappingSync: false,
})

/** Waiting for the lock blocks the thread and cannot be given up, so another process finds out whether it is free. */
function refuseStoppedHolder(path: string, patienceMs: number): void {
  const stopped = othersAt(path).filter(isStopped)
  if (stopped.length === 0) return
  const probe = fileURLToPath(new URL('./commit-lock-probe.js', import.meta.url))
  const { status } = spawnSync(process.execPath, [probe, path], {
    timeout: patienceMs,
    killSignal: 'SIGKILL',
    stdio: 'ignore',
    env: {},
  })
  if (status === 0) return
  throw new CatracaError(
    'STORE_IN_USE',
    `process ${stopped.join(', ')} has ${path} open, is stopped and keeps its lock: let it go on (kill -CONT), or end it`,
  )
}

/** Other processes that have the lock open. Those that were killed leave a nameplate behind, which is removed here. */
function othersAt(path: string): number[] {
  const nameplates = readdirSync(path).filter((name) => name.includes(NAMEPLATE))
  const pids = nameplates.map((name) => Number.parseInt(name, 10))
  nameplates.forEach((name, i) => {
    if (!isAlive(pids[i]!)) rmSync(join(path, name), { force: true })
  })
  return [...new Set(pids)].filter((pid) => pid !== process.pid && isAlive(pid))
}
