import type { Environment } from '../lmdb/environment.js'

const BYTES = 'cache-bytes'
/** LMDB's overhead per row beside key and value, approximately. */
const ROW_BYTES = 32
const EVICTED_AT_ONCE = 100

/**
 * Counts the bytes of entries and evicts some when there are too many. Eviction walks through all entries in turn, so
 * each has the same chance: only the first tiers, in memory, know which entries are used. Everything runs in a write
 * transaction.
 */
export class CacheSpaceUse {
  private evictFrom: [string, string] | undefined

  constructor(
    private readonly environment: Environment,
    private readonly maxBytes: number,
  ) {}

  put(space: string, key: string, row: Buffer): void {
    const { cacheEntries } = this.environment
    const before = this.sizeOf(space, key)
    cacheEntries.putSync([space, key], row)
    this.add(space.length + key.length + row.length + ROW_BYTES - before)
  }

  remove(space: string, key: string): boolean {
    const before = this.sizeOf(space, key)
    if (before === 0) return false
    this.add(-before)
    return this.environment.cacheEntries.removeSync([space, key])
  }

  private sizeOf(space: string, key: string): number {
    const row = this.environment.cacheEntries.getBinaryFast([space, key])
    return row === undefined ? 0 : space.length + key.length + row.length + ROW_BYTES
  }

  private add(bytes: number): void {
    const total = this.total() + bytes
    this.environment.settings.putSync(BYTES, String(total))
    if (bytes > 0 && total > this.maxBytes) this.evict()
  }

  private total(): number {
    return Number(this.environment.settings.get(BYTES) ?? 0)
  }

  private evict(): void {
    const { cacheEntries } = this.environment
    while (this.total() > this.maxBytes) {
      const start = this.evictFrom
      const range = { ...(start && { start }), limit: EVICTED_AT_ONCE }
      const keys = Array.from(cacheEntries.getKeys(range)) as [string, string][]
      if (keys.length === 0 && start === undefined) return
      this.evictFrom = keys.length < EVICTED_AT_ONCE ? undefined : keys.at(-1)
      for (const [space, key] of keys) {
        if (this.total() <= this.maxBytes) return
        this.remove(space, key)
      }
    }
  }
}
