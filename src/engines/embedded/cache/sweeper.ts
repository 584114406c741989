import type { Environment } from '../lmdb/environment.js'
import { readHead } from './rows.js'
import type { CacheSpaceUse } from './space-use.js'
import type { FillRow } from './store.js'

const SCANNED_PER_STEP = 1000

/**
 * Deletes expired and invalidated entries, expired leases, and marks that are no longer needed. Rows have no index by
 * time, because every write would have to maintain it. So the sweeper walks over all rows, one batch per call.
 */
export class CacheSweeper {
  private from: [string, string] | undefined
  /**
   * The last invalidation number when the walk began. When the walk ends, no entry is left that a mark up to it
   * invalidates.
   */
  private walkNumber = 0

  constructor(
    private readonly environment: Environment,
    private readonly use: CacheSpaceUse,
    private readonly mark: (space: string, tags: readonly string[]) => number,
  ) {}

  /** `more` is true until the walk has reached its end. */
  async sweep(now: number): Promise<{ more: boolean }> {
    this.environment.refresh()
    const { cacheEntries, settings } = this.environment
    if (this.from === undefined) this.walkNumber = Number(settings.get('cache-number') ?? 0)
    const range = { ...(this.from && { start: this.from }), limit: SCANNED_PER_STEP + 1 }
    const keys = Array.from(cacheEntries.getKeys(range)) as [string, string][]
    const next = keys.length > SCANNED_PER_STEP ? keys.pop() : undefined
    const dead = keys.filter((key) => this.isDead(key, now))
    if (dead.length > 0) {
      await this.environment.free(() => {
        // Checked again: another process may have written the entry meanwhile.
        for (const key of dead) if (this.isDead(key, now)) this.use.remove(key[0], key[1])
      })
    }
    this.from = next
    if (next === undefined) await this.endWalk(now)
    return { more: next !== undefined }
  }

  private isDead([space, key]: [string, string], now: number): boolean {
    const row = this.environment.cacheEntries.get([space, key])
    if (row === undefined) return true
    const { goneAt, number, tags } = readHead(row)
    return goneAt <= now || number < this.mark(space, tags)
  }

  private async endWalk(now: number): Promise<void> {
    const { cacheFills, cacheMarks } = this.environment
    if (cacheFills.getKeysCount({ limit: 1 }) + cacheMarks.getKeysCount({ limit: 1 }) === 0) return
    await this.environment.free(() => {
      let oldestFill = Number.POSITIVE_INFINITY
      for (const { key, value } of Array.from(cacheFills.getRange({}))) {
        const [, until, number] = JSON.parse(value) as FillRow
        if (until <= now) cacheFills.removeSync(key)
        else oldestFill = Math.min(oldestFill, number)
      }
      const needless = Math.min(this.walkNumber, oldestFill)
      for (const { key, value } of Array.from(cacheMarks.getRange({}))) {
        if (Number(value) <= needless) cacheMarks.removeSync(key)
      }
    })
  }
}
