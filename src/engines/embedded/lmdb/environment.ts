import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { CatracaError } from '../../../core/errors.js'
import { every } from '../../../core/timers.js'
import type { Durability } from '../options.js'
import { CommitLock, holding } from './commit-lock.js'
import { inspectDataFile } from './data-file.js'
import { Databases } from './databases.js'
import { behindGate, type ExitGate, working } from './exit-gate.js'
import { storeError } from './failures.js'
import { giveToOwner, refuseNetworkFileSystem } from './file-system.js'
import { openLmdb, sameNumber } from './open-lmdb.js'
import { makeDirectory } from './private-files.js'
import { Room } from './room.js'
import { usedBytes } from './used-bytes.js'
import { WriteGroup } from './write-group.js'

/** Increased when the layout changes. A store with a higher number is refused. */
export const FORMAT_VERSION = 1

export interface EnvironmentOptions {
  directory: string
  /** Whether other processes may open the store too. */
  isShared: boolean
  durability: Durability
  /** The store refuses writes when its data takes more than this. */
  maxSizeBytes?: number
  /** The store refuses writes when less than this is free on the disk. */
  minFreeBytes: number
  /** Maximum bytes of each list's change log: enough to catch up after minutes, small compared with the members. */
  maxLogBytes: number
  /** Shared by all threads that write to this store in this process. */
  gate: ExitGate
}

export interface Opening {
  /** Run before and after the environment is opened, while no other process opens it. */
  before?: () => void
  after?: () => void
  /**
   * How long to wait for a stopped process that holds the lock. Without it, wait for ever: for threads that may
   * block.
   */
  patienceMs?: number
}

const ABORTABLE_SYNC_COMMIT = 0x3
const NO_DISK_FLUSH = 0x10000
const SYNC_INTERVAL_MS = 1000
/**
 * Address space, not memory or disk. Set in full at the start: threads that grew the map at the same time crashed the
 * process.
 */
export const MAP_BYTES = 2 ** 40

export const MAX_READERS = 1024

/** Key in `counters`. No list has the number 0. */
const PULSE = new Uint8Array(4)

/** LMDB in one directory: its databases, its write transactions and its read snapshots. */
export class Environment extends Databases {
  /** Increases whenever reads may see a newer state of the store than before. */
  snapshot = 0
  /** Write transactions of this thread: begun, and failed. */
  begun = 0
  failed = 0
  private pulseSnapshot = -1
  private lastPulse = 0
  private closed = false
  /** There are commits that were not yet flushed to disk. */
  private isUnsynced = false
  private syncing: Promise<void> = Promise.resolve()
  private readonly syncTimer: NodeJS.Timeout | undefined
  private broken = false
  private readonly room: Room
  private readonly group = new WriteGroup((change, isFreeing) => this.writeNow(change, isFreeing))
  private readonly commitFlags: number

  private constructor(
    root: RootDatabase,
    private readonly commitLock: CommitLock | undefined,
    readonly options: EnvironmentOptions,
  ) {
    super(root)
    this.room = new Room(options, {
      sizeBytes: () => this.sizeBytes,
      usedBytes: () => {
        this.root.resetReadTxn()
        return usedBytes(this.root, this.databases)
      },
    })
    this.commitFlags = ABORTABLE_SYNC_COMMIT | (options.durability === 'disk' ? 0 : NO_DISK_FLUSH)
    if (options.durability === 'process') {
      this.syncTimer = every(() => this.sync(), SYNC_INTERVAL_MS).unref()
    }
    for (const database of [root, ...this.databases]) {
      // lmdb begins a new read transaction in the first read of a turn, and says so only here.
      ;(database as unknown as NodeJS.EventEmitter).addListener('begin-transaction', () => {
        this.snapshot++
      })
    }
  }

  static open(options: EnvironmentOptions, { before, after, patienceMs }: Opening = {}): Environment {
    const { directory, isShared } = options
    try {
      makeDirectory(directory)
      if (!statSync(directory).isDirectory()) throw new Error('not a directory')
      refuseNetworkFileSystem(directory)
      // Behind the gate, because opening a database is also a write transaction.
      const opened = behindGate(options.gate, () => {
        const lock = isShared ? CommitLock.open(directory, patienceMs) : undefined
        try {
          return holding(lock, () => {
            before?.()
            inspectDataFile(join(directory, 'data.mdb'))
            const environment = new Environment(openRoot(directory), lock, options)
            after?.()
            return environment
          })
        } catch (error) {
          void lock?.close()
          throw error
        }
      })
      if (opened === undefined) throw new CatracaError('CLOSED', 'the process is ending')
      opened.result.checkFormat()
      giveToOwner(directory)
      return opened.result
    } catch (error) {
      throw storeError(error, directory)
    }
  }

  private checkFormat(): void {
    const found = this.firstRead()
    if (found === undefined) {
      holding(this.commitLock, () =>
        this.root.transactionSync(() => {
          if (this.settings.get('format') !== undefined) return
          this.settings.putSync('format', String(FORMAT_VERSION))
          this.settings.putSync('store', Math.floor(Math.random() * 0x100000000).toString(36))
        }),
      )
    } else if (Number(found) > FORMAT_VERSION) {
      void this.close()
      throw new CatracaError(
        'STORE_NEWER_VERSION',
        `${this.options.directory} was written in format ${found}; this version reads up to ${FORMAT_VERSION}`,
      )
    }
  }

  private firstRead(): string | undefined {
    try {
      return this.settings.get('format')
    } catch (error) {
      void this.close()
      throw error instanceof TypeError ? sameNumber(this.options.directory, error) : error
    }
  }

  /**
   * Runs `change` in a write transaction, together with other pending changes. Each change is applied completely or
   * not at all. Resolves when the change is as durable as `durability` says.
   */
  write<T>(change: () => T): Promise<T> {
    return this.group.add(change, false)
  }

  /** Like `write`, for changes that delete or return something. They are allowed when the store is full. */
  free<T>(change: () => T): Promise<T> {
    return this.group.add(change, true)
  }

  /** Like `write`, immediately and in a separate transaction. */
  writeNow<T>(change: () => T, isFreeing = false): T {
    this.assertOpen()
    this.assertSound()
    this.room.assert(isFreeing)
    this.isUnsynced = true
    let ended = false
    try {
      const done = behindGate(this.options.gate, () =>
        this.locked(() =>
          this.root.transactionSync(() => {
            this.begun++
            const result = change()
            ended = true
            return result
          }, this.commitFlags),
        ),
      )
      if (done === undefined) throw new CatracaError('CLOSED', 'the process is ending')
      return done.result
    } catch (error) {
      this.failed++
      // After a failed commit, LMDB cannot be trusted with another commit in this process.
      if (ended && !(error instanceof CatracaError)) this.broken = true
      throw storeError(error, this.options.directory)
    }
  }

  private locked<T>(work: () => T): T {
    return holding(this.commitLock, () => working(this.options.gate, work))
  }

  /**
   * The number of the current write transaction, counted across all processes. A transaction that changes nothing
   * does not use up its number.
   */
  transactionNumber(): number {
    // lmdb has this method, but its types do not.
    return (this.root as unknown as { getWriteTxnId(): number }).getWriteTxnId()
  }

  /** The next read sees everything that was committed before this call, by any process. */
  refresh(): void {
    this.assertOpen()
    this.root.resetReadTxn()
  }

  /** Begins a read snapshot if there is none, so that `snapshot` matches what the next read will see. */
  beginRead(): void {
    this.assertOpen()
    ;(this.settings as unknown as { ensureReadTxn(): void }).ensureReadTxn()
  }

  /**
   * A number that grows with every commit that other threads or processes may have to follow. Cheap: read once per
   * snapshot.
   */
  pulse(): number {
    this.beginRead()
    if (this.pulseSnapshot !== this.snapshot) {
      this.lastPulse = this.counters.getBinaryFast(PULSE)?.readDoubleLE(0) ?? 0
      this.pulseSnapshot = this.snapshot
    }
    return this.lastPulse
  }

  /** In a write transaction. */
  bumpPulse(): void {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE((this.counters.getBinaryFast(PULSE)?.readDoubleLE(0) ?? 0) + 1)
    this.counters.putSync(PULSE, bytes)
  }

  get sizeBytes(): number {
    const { pageSize, lastPageNumber } = this.root.getStats() as { pageSize: number; lastPageNumber: number }
    return pageSize * (lastPageNumber + 1)
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.group.commit()
    clearInterval(this.syncTimer)
    if (this.options.durability === 'process') await this.sync()
    this.closed = true
    // Without the lock: closing changes nothing that other processes depend on, and must not wait for a stopped
    // process.
    await this.root.close()
    await this.commitLock?.close()
  }

  /** Resolves when no flush is in progress. Closing the environment during a flush would crash the process. */
  private sync(): Promise<void> {
    if (!this.isUnsynced) return this.syncing
    this.isUnsynced = false
    // A failure shows in the next commit or health check. No caller waits for this flush.
    const root = this.root as unknown as { sync(done: () => void): void }
    this.syncing = this.syncing.then(() => new Promise((resolve) => root.sync(() => resolve())))
    return this.syncing
  }

  assertOpen(): void {
    if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
  }

  private assertSound(): void {
    if (!this.broken) return
    throw new CatracaError(
      'STORE_UNUSABLE',
      `${this.options.directory}: an earlier write failed in the file system; restart to write again`,
    )
  }
}

function openRoot(path: string): RootDatabase {
  return openLmdb({
    path,
    maxDbs: 64,
    maxReaders: MAX_READERS,
    noSubdir: false,
    mapSize: MAP_BYTES,
    // Measured: with overlappingSync, every commit waits for the disk, whatever its flags say.
    overlappingSync: false,
  })
}
