/** How much memory an import may use, and how much it does in one step. Tests use small values. */
export interface ImportLimits {
  /** A longer row is skipped and rejected. */
  maxRowBytes: number
  /** A run is sorted and stored when it has this many rows or bytes. */
  maxRunRows: number
  maxRunKeyBytes: number
  maxRunAttributeBytes: number
  /** Customers stored in one step of the engine. */
  batchCustomers: number
  /** Customers removed at the same time. */
  batchRemovals: number
  /** Customers, or bytes, in one block that a merge returns. */
  blockCustomers: number
  blockBytes: number
  /** How much of one spilled run is read at a time. */
  spillBufferBytes: number
  /** A gzip body may expand to the larger of these: this many bytes, or this many times its compressed size. */
  maxExpandedBytes: number
  maxExpansion: number
  /** Maximum number of rejected rows that are returned. */
  maxErrors: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: ImportLimits = {
  maxRowBytes: 64 * 1024,
  maxRunRows: 1_048_576,
  maxRunKeyBytes: 32 * MIB,
  maxRunAttributeBytes: 32 * MIB,
  batchCustomers: 10_000,
  batchRemovals: 500,
  blockCustomers: 8192,
  blockBytes: MIB,
  spillBufferBytes: 64 * 1024,
  maxExpandedBytes: 64 * MIB,
  maxExpansion: 200,
  maxErrors: 100,
}
