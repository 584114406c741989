import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { CatracaError } from '../../../core/errors.js'

/**
 * LMDB maps its file and trusts it. If the file was truncated, the first read behind its end kills the process with
 * SIGBUS, which cannot be caught. So this file reads the two meta pages first.
 */
const MAGIC = 0xbeefc0de
const META = { magic: 24, pageSize: 48, lastPage: 144, transaction: 152 }
const PAGE_SIZES = new Set([4096, 8192, 16384, 32768, 65536])

/**
 * A page that LMDB added and freed again in one transaction is counted, and never written. At the end of the file such pages
 * are missing until they are used, so a file that is this much shorter is whole.
 */
const UNWRITTEN_PAGES = 8

export function inspectDataFile(path: string): void {
  if ((fileSize(path) ?? 0) === 0) return
  const first = readMeta(path, 0)
  const pageSize = first?.pageSize ?? 4096
  const second = readMeta(path, pageSize)
  const newest = [first, second]
    .filter((meta) => meta !== undefined)
    .sort((a, b) => b.transaction - a.transaction)[0]
  if (newest === undefined) throw corrupt(path, 'it is not a store of this kind')
  const needed = (newest.lastPage + 1) * newest.pageSize
  // Measured only now: another process may be writing, and the file grows before its meta page says so.
  const sizeNow = fileSize(path) ?? 0
  if (sizeNow < needed - UNWRITTEN_PAGES * newest.pageSize)
    throw corrupt(path, `it has ${sizeNow} bytes and should have ${needed}: it was cut short`)
}

function fileSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

function readMeta(path: string, offset: number) {
  const bytes = Buffer.alloc(168)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, bytes, 0, bytes.length, offset) < bytes.length) return undefined
  } finally {
    closeSync(file)
  }
  const pageSize = bytes.readUInt32LE(META.pageSize)
  if (bytes.readUInt32LE(META.magic) !== MAGIC || !PAGE_SIZES.has(pageSize)) return undefined
  return {
    pageSize,
    lastPage: Number(bytes.readBigUInt64LE(META.lastPage)),
    transaction: Number(bytes.readBigUInt64LE(META.transaction)),
  }
}

function corrupt(path: string, why: string): CatracaError {
  return new CatracaError('STORE_CORRUPT', `${path} cannot be read: ${why}`)
}
