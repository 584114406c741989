/** What a check may answer from memory while the store is away, with `onUnavailable: 'last-known'`. */
export interface LastKnownOptions {
  /** An answer that was last known to be right longer ago than this is not given. */
  maxStalenessMs: number
  /** What happens to a check that memory cannot answer: an error, or allowed, marked as degraded. */
  onNotInMemory: 'block' | 'allow'
  /**
   * A directory that keeps a copy of what memory knows. With it, a process can start while its store is away, and
   * answers as last known. Undefined: no copy.
   */
  directory: string | undefined
  /** Images that would make the copy larger than this are left out, those used last come first. */
  maxDiskBytes: number
  /** Whether a server keeps the hashes of API keys there too, and trusts them for `access.maxStaleMs`. */
  keepKeys: boolean
}

export const DEFAULT_LAST_KNOWN: LastKnownOptions = {
  maxStalenessMs: 3_600_000,
  onNotInMemory: 'block',
  directory: undefined,
  maxDiskBytes: 1024 * 1024 * 1024,
  keepKeys: false,
}
