import type { ExitGate } from './lmdb/exit-gate.js'

/**
 * `disk`: an acknowledged write survives a power loss. `process`: it survives a crash of the process, and is flushed
 * to disk within a second. After a power loss the file may be damaged, if the file system reorders writes.
 */
export type Durability = 'process' | 'disk'

export interface EmbeddedOptions {
  /** Directory of the data. Without it, a temporary directory that is removed on close. */
  directory?: string
  durability?: Durability
  /** Durability of the rate-limit counters; see rate-limit/directory.ts. */
  limitsDurability?: Durability
  maxSizeBytes?: number
  minFreeBytes?: number
  maxLogBytes?: number
  /** Entries are evicted when the cache holds more bytes than this. */
  cacheMaxBytes?: number
  /** A write that takes longer fails with UNKNOWN_OUTCOME. */
  writeTimeoutMs?: number
  /** The gate of the instance, when this engine is opened in one of its worker threads. */
  gate?: ExitGate
  /**
   * `here`: writes run on the calling thread, which may block: on the disk, and on other processes that write. Default:
   * on threads of their own, or here for a temporary store, which has neither to wait for.
   */
  writes?: 'thread' | 'here'
}
