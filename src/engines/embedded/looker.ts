import { join } from 'node:path'
import { type Database, type DatabaseOptions, open, type RootDatabase } from 'lmdb'
import { inspectDataFile } from './data-file.js'
import { MAP_BYTES, MAX_READERS } from './environment.js'
import { storeError } from './failures.js'
import { readersOf } from './open-processes.js'

export interface Room {
  fileBytes: number
  mapBytes: number
}

/**
 * An environment that is only looked at: nothing is made, and no lock of writers is waited for, so that neither a
 * directory without rights nor a stopped process keeps it from being opened.
 */
export class Looker {
  private constructor(private readonly root: RootDatabase) {}

  static open(directory: string): Looker {
    try {
      inspectDataFile(join(directory, 'data.mdb'))
      const options = { path: directory, maxDbs: 64, maxReaders: MAX_READERS, noSubdir: false }
      return new Looker(open({ ...options, mapSize: MAP_BYTES, readOnly: true }))
    } catch (error) {
      throw storeError(error, directory)
    }
  }

  /** Undefined where the database was never made. */
  text(name: string): Database<string, string> | undefined {
    const options: DatabaseOptions = { encoding: 'string', keyEncoding: 'ordered-binary' }
    return this.root.openDB(name, options) as unknown as Database<string, string> | undefined
  }

  binary(name: string): Database<Buffer, Uint8Array> | undefined {
    const options: DatabaseOptions = { encoding: 'binary', keyEncoding: 'binary' }
    return this.root.openDB(name, options) as unknown as Database<Buffer, Uint8Array> | undefined
  }

  /** Text under the number of a list. */
  numbered(name: string): Database<string, Uint8Array> | undefined {
    const options: DatabaseOptions = { encoding: 'string', keyEncoding: 'binary' }
    return this.root.openDB(name, options) as unknown as Database<string, Uint8Array> | undefined
  }

  room(): Room {
    const { pageSize, lastPageNumber, mapSize } = this.root.getStats() as Record<string, number>
    return { fileBytes: pageSize! * (lastPageNumber! + 1), mapBytes: mapSize! }
  }

  readers(): number[] {
    return readersOf(this.root.readerList())
  }

  /** A copy as of one moment into that directory, without what was freed. Writers go on meanwhile. */
  copyTo(directory: string): Promise<void> {
    return this.root.backup(directory, true)
  }

  close(): Promise<void> {
    return this.root.close()
  }
}
