import type { SnapshotReader } from '../lmdb/snapshot-reader.js'
import type { Durability } from '../options.js'

export interface EmbeddedFacts {
  directory: string
  durability: Durability
  minFreeBytes: number
  maxSizeBytes: number | undefined
  now: () => number
  /** Undefined when the store could not be opened. */
  snapshotReader: SnapshotReader | undefined
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function bytesText(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`
}
