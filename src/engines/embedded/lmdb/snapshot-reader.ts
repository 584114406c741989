import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, DatabaseOptions, RootDatabase } from 'lmdb'
import { CommitLock, holding } from './commit-lock.js'
import { inspectDataFile } from './data-file.js'
import { MAP_BYTES, MAX_READERS } from './environment.js'
import { storeError } from './failures.js'
import { openLmdb } from './open-lmdb.js'
import { readersOf } from './open-processes.js'
import { usedBytes } from './used-bytes.js'

interface FileSize {
  /** Of the file, and of what is used of it: a file never shrinks. */
  fileBytes: number
  usedBytes: number
  mapBytes: number
}

/** How long to wait for a stopped process that holds the lock. */
const PATIENCE_MS = 2000

/** A read-only environment: it creates and changes nothing. */
export class SnapshotReader {
  private constructor(
    private readonly root: RootDatabase,
    private readonly commitLock: CommitLock | undefined,
  ) {}

  static open(directory: string): SnapshotReader {
    try {
      const lock = mayLock(directory) ? CommitLock.open(directory, PATIENCE_MS) : undefined
      try {
        inspectDataFile(join(directory, 'data.mdb'))
        const options = { path: directory, maxDbs: 64, maxReaders: MAX_READERS, noSubdir: false }
        const root = openLmdb({ ...options, mapSize: MAP_BYTES, readOnly: true }, (work) =>
          holding(lock, work),
        )
        return new SnapshotReader(root, lock)
      } catch (error) {
        void lock?.close()
        throw error
      }
    } catch (error) {
      throw storeError(error, directory)
    }
  }

  /** Undefined if the database does not exist. */
  text(name: string): Database<string, string> | undefined {
    const options: DatabaseOptions = { encoding: 'string', keyEncoding: 'ordered-binary' }
    return this.root.openDB(name, options) as unknown as Database<string, string> | undefined
  }

  binary(name: string): Database<Buffer, Uint8Array> | undefined {
    const options: DatabaseOptions = { encoding: 'binary', keyEncoding: 'binary' }
    return this.root.openDB(name, options) as unknown as Database<Buffer, Uint8Array> | undefined
  }

  /** Text by list number. */
  numbered(name: string): Database<string, Uint8Array> | undefined {
    const options: DatabaseOptions = { encoding: 'string', keyEncoding: 'binary' }
    return this.root.openDB(name, options) as unknown as Database<string, Uint8Array> | undefined
  }

  room(): FileSize {
    const { pageSize, lastPageNumber, mapSize } = this.root.getStats() as Record<string, number>
    const databases = [...this.root.getKeys()].flatMap((name) => this.binary(String(name)) ?? [])
    return {
      fileBytes: pageSize! * (lastPageNumber! + 1),
      usedBytes: usedBytes(this.root, databases),
      mapBytes: mapSize!,
    }
  }

  /** How many rows each database has. */
  rows(): Record<string, number> {
    const names = [...this.root.getKeys()].map(String)
    return Object.fromEntries(
      names.map((name) => [
        name,
        (this.binary(name)?.getStats() as { entryCount?: number })?.entryCount ?? 0,
      ]),
    )
  }

  readers(): number[] {
    return readersOf(this.root.readerList())
  }

  /** Copies one snapshot into the directory, without free pages. Writers are not blocked. */
  copyTo(directory: string): Promise<void> {
    return this.root.backup(directory, true)
  }

  async close(): Promise<void> {
    await this.root.close()
    await this.commitLock?.close()
  }
}

/**
 * Without permission to write the lock file, LMDB opens the environment without locks, and then changes nothing that
 * is shared.
 */
function mayLock(directory: string): boolean {
  const file = join(directory, 'lock.mdb')
  try {
    accessSync(existsSync(file) ? file : directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
