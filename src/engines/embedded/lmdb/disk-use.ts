import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mainDirectory } from './store-directory.js'

export interface DiskUse {
  /**
   * `store`: durable data. `limits`: rate-limit counters. `cache`: cached entries. A file that was never opened is
   * absent.
   */
  files: { file: 'store' | 'limits' | 'cache'; sizeBytes: number }[]
  /** Disk space available to this user. */
  freeBytes: number
}

const DATA_FILE = 'data.mdb'

export function diskUse(directory: string): DiskUse {
  const sizes = [
    { file: 'store' as const, sizeBytes: sizeOf(join(mainDirectory(directory), DATA_FILE)) },
    { file: 'limits' as const, sizeBytes: sizeWithin(join(directory, 'limits')) },
    { file: 'cache' as const, sizeBytes: sizeWithin(join(directory, 'cache')) },
  ]
  const { bavail, bsize } = statfsSync(directory)
  return { files: sizes.filter(({ sizeBytes }) => sizeBytes > 0), freeBytes: bavail * bsize }
}

/** Each boot of the system has a separate directory, see rate-limit/directory.ts. */
function sizeWithin(parent: string): number {
  try {
    return readdirSync(parent).reduce((sum, name) => sum + sizeOf(join(parent, name, DATA_FILE)), 0)
  } catch {
    return 0
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
