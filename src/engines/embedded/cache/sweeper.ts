import type { Environment } from '../lmdb/environment.js'
import { readHead } from './rows.js'
import type { CacheSpaceUse } from './space-use.js'
import type { FillRow } from './store.js'

const SCANNED_PER_STEP = 1000

/**
 * Drops entries that are over or no longer count, leases that have passed, and marks that nothing needs any more. Rows
 * have no index by time, which every write would have to keep: it walks over them, a stretch at a time.
 */
export class CacheSweeper {
  private from: [string, string] | undefined
  /** The last number when the walk began: behind its end no entry is left that a mark up to it forbids. */
  private walkNumber = 0

  constructor(
    private readonly environment: Environment,
    private readonly use: CacheSpaceUse,
    private readonly mark: (space: string, tags: readonly string[]) => number,
  ) {}

  /** `more` until the walk has come to its end. */
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
        // Somebody may have written it anew meanwhile.
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
