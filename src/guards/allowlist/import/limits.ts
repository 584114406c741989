/** What an import may hold in memory, and how much it does in one step. Tests make them small. */
export interface ImportLimits {
  /** A row longer than this is skipped and rejected. */
  maxRowBytes: number
  /** A run is sorted and stored when it holds this many rows, or this much. */
  maxRunRows: number
  maxRunKeyBytes: number
  maxRunAttributeBytes: number
  /** Customers stored in one step of the engine. */
  batchCustomers: number
  /** Customers, or bytes, in one block that a merge hands on. */
  blockCustomers: number
  blockBytes: number
  /** What is read of one spilled run at a time. */
  spillBufferBytes: number
  /** A gzip body may expand to the larger of these: so many bytes, or so many times what was read of it. */
  maxExpandedBytes: number
  maxExpansion: number
  /** Rejected rows that are told one by one. */
  maxErrors: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: ImportLimits = {
  maxRowBytes: 64 * 1024,
  maxRunRows: 1_048_576,
  maxRunKeyBytes: 32 * MIB,
  maxRunAttributeBytes: 32 * MIB,
  batchCustomers: 10_000,
  blockCustomers: 8192,
  blockBytes: MIB,
  spillBufferBytes: 64 * 1024,
  maxExpandedBytes: 64 * MIB,
  maxExpansion: 200,
  maxErrors: 100,
}
