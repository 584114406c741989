import { statfsSync } from 'node:fs'
import { CatracaError } from '../../../core/errors.js'

/** How long a measurement of free disk space is reused: too short to fill `minFreeBytes` of a disk. */
const ROOM_INTERVAL_MS = 10
/** LMDB copies the pages that it changes, so deletes need some space too. Deletes may use all free space but this. */
const RESERVED_BYTES = 4 * 1024 * 1024

interface Bounds {
  directory: string
  minFreeBytes: number
  maxSizeBytes?: number
}

interface Sizes {
  /** Of the file, which never shrinks. */
  sizeBytes(): number
  /** What the data takes of it. Takes longer than a small write. */
  usedBytes(): number
}

/** Checks before a commit that there is space, because LMDB does not recover well when it runs out in the middle. */
export class Room {
  /** Until this time of `performance.now()`, the disk is assumed to have enough free space. */
  private onDiskUntil = 0
  /** The same within `maxSizeBytes`, of a file that is larger. */
  private insideUntil = 0

  constructor(
    private readonly bounds: Bounds,
    private readonly sizes: Sizes,
  ) {}

  /** Throws STORE_FULL. Changes that delete something may use space that others may not. */
  assert(isFreeing: boolean): void {
    const { maxSizeBytes, directory } = this.bounds
    if (performance.now() >= this.onDiskUntil) this.lookAtDisk(isFreeing)
    if (!isFreeing && maxSizeBytes !== undefined && this.isBeyond(maxSizeBytes)) {
      throw new CatracaError('STORE_FULL', `${directory} has reached its limit of ${maxSizeBytes} bytes`)
    }
  }

  private lookAtDisk(isFreeing: boolean): void {
    const { minFreeBytes, directory } = this.bounds
    const { bavail, bsize } = statfsSync(directory)
    const freeBytes = bavail * bsize
    if (freeBytes < (isFreeing ? Math.min(minFreeBytes, RESERVED_BYTES) : minFreeBytes)) {
      throw new CatracaError(
        'STORE_FULL',
        `${directory}: fewer than ${minFreeBytes} bytes are free on the disk`,
      )
    }
    if (freeBytes >= minFreeBytes) this.onDiskUntil = performance.now() + ROOM_INTERVAL_MS
  }

  /** Beyond the limit only what is used of the file counts. */
  private isBeyond(maxSizeBytes: number): boolean {
    if (this.sizes.sizeBytes() <= maxSizeBytes || performance.now() < this.insideUntil) return false
    if (this.sizes.usedBytes() > maxSizeBytes) return true
    this.insideUntil = performance.now() + ROOM_INTERVAL_MS
    return false
  }
}
