import { type Listing, type ListingRequest, MAX_EXAMINED } from '../../../core/listing.js'
import { listedEntry } from '../../../guards/cache/listed-entry.js'
import type {
  CacheItem,
  CacheNotice,
  CacheStore,
  FillClaim,
  FilledItem,
  FillStart,
  ListedEntry,
  StoredValue,
  StoreOutcome,
} from '../../../guards/cache/port.js'
import type { Environment } from '../lmdb/environment.js'
import { CacheNotices } from './notices.js'
import { packRow, readHead, readValue, withEnd } from './rows.js'
import { CacheSpaceUse } from './space-use.js'
import { CacheSweeper } from './sweeper.js'

/**
 * A row of `cache-fills`: the owner of the lease, its end, and the number of the last invalidation when the fill
 * began.
 */
export type FillRow = [token: string, until: number, number: number]

/** LMDB takes values up to 2 GiB, but a value that is copied between threads and processes should be far smaller. */
export const MAX_VALUE_BYTES = 16 * 1024 * 1024

/** The second cache tier in one LMDB environment. Verbs that change something run on the thread that writes it. */
export class EmbeddedCache implements CacheStore {
  readonly maxValueBytes = MAX_VALUE_BYTES
  private readonly notices: CacheNotices
  private readonly use: CacheSpaceUse
  private readonly sweeper: CacheSweeper

  constructor(
    private readonly environment: Environment,
    options: { origin: string; maxBytes: number },
  ) {
    this.notices = new CacheNotices(environment, options.origin)
    this.use = new CacheSpaceUse(environment, options.maxBytes)
    this.sweeper = new CacheSweeper(environment, this.use, (space, tags) => this.mark(space, tags))
  }

  async read(space: string, keys: readonly string[], now: number): Promise<(StoredValue | undefined)[]> {
    this.environment.refresh()
    return keys.map((key) => this.entry(space, key, now))
  }

  begin(space: string, keys: readonly string[], claim: FillClaim, now: number): Promise<FillStart[]> {
    return this.environment.write(() => keys.map((key) => this.beginOne(space, key, claim, now)))
  }

  private beginOne(space: string, key: string, claim: FillClaim, now: number): FillStart {
    const { token, leaseMs, freshAboveMs, takeOver } = claim
    if (!takeOver) {
      const entry = this.entry(space, key, now)
      if (entry !== undefined && entry.leftMs > freshAboveMs) return { state: 'found', entry }
      const held = this.fillOf(space, key)
      if (held !== undefined && held[1] > now && held[0] !== token)
        return { state: 'held', leftMs: held[1] - now }
    }
    const row: FillRow = [token, now + leaseMs, this.notices.number()]
    this.environment.cacheFills.putSync([space, key], JSON.stringify(row))
    return { state: 'filling' }
  }

  store(space: string, fills: readonly FilledItem[], now: number): Promise<StoreOutcome[]> {
    return this.environment.write(() => fills.map((fill) => this.storeOne(space, fill, now)))
  }

  private storeOne(space: string, fill: FilledItem, now: number): StoreOutcome {
    const held = this.fillOf(space, fill.key)
    if (held === undefined || held[0] !== fill.token || held[1] <= now) return 'void'
    this.environment.cacheFills.removeSync([space, fill.key])
    if (held[2] < this.mark(space, fill.tags)) return 'void'
    const number = fill.isChange ? this.notices.add({ kind: 'changed', space, keys: [fill.key] }) : held[2]
    this.use.put(space, fill.key, packRow(fill, now, number))
    return 'stored'
  }

  renew(
    space: string,
    keys: readonly string[],
    { token, leaseMs }: { token: string; leaseMs: number },
    now: number,
  ): Promise<boolean[]> {
    return this.environment.write(() =>
      keys.map((key) => {
        const held = this.fillOf(space, key)
        if (held === undefined || held[0] !== token || held[1] <= now) return false
        const row: FillRow = [token, now + leaseMs, held[2]]
        this.environment.cacheFills.putSync([space, key], JSON.stringify(row))
        return true
      }),
    )
  }

  release(space: string, keys: readonly string[], token: string): Promise<void> {
    return this.environment.free(() => {
      for (const key of keys) {
        if (this.fillOf(space, key)?.[0] === token) this.environment.cacheFills.removeSync([space, key])
      }
    })
  }

  write(space: string, items: readonly CacheItem[], now: number): Promise<void> {
    return this.environment.write(() => {
      const number = this.notices.add({ kind: 'changed', space, keys: items.map(({ key }) => key) })
      for (const item of items) {
        this.environment.cacheFills.removeSync([space, item.key])
        this.use.put(space, item.key, packRow(item, now, number))
      }
    })
  }

  remove(space: string, keys: readonly string[], now: number): Promise<boolean[]> {
    return this.environment.free(() => {
      this.notices.add({ kind: 'changed', space, keys })
      return keys.map((key) => {
        const isThere = this.entry(space, key, now) !== undefined
        this.environment.cacheFills.removeSync([space, key])
        this.use.remove(space, key)
        return isThere
      })
    })
  }

  expire(space: string, keys: readonly string[], keepMs: number, now: number): Promise<void> {
    return this.environment.write(() => {
      this.notices.add({ kind: 'changed', space, keys })
      for (const key of keys) {
        this.environment.cacheFills.removeSync([space, key])
        const row = this.environment.cacheEntries.get([space, key])
        if (row !== undefined && readHead(row).goneAt > now + keepMs)
          this.use.put(space, key, withEnd(row, now + keepMs))
      }
    })
  }

  async list(
    space: string,
    { prefix, after, limit }: ListingRequest,
    now: number,
  ): Promise<Listing<ListedEntry>> {
    this.environment.refresh()
    const items: ListedEntry[] = []
    let examined = 0
    const { cacheEntries } = this.environment
    for (const row of cacheEntries.getKeys({ start: [space, after ?? prefix], end: [`${space}\x01`] })) {
      const key = (row as string[])[1]!
      if (key === after) continue
      if (!key.startsWith(prefix)) break
      const entry = this.entry(space, key, now)
      if (entry !== undefined) items.push(listedEntry(key, entry))
      if (items.length === limit || ++examined === MAX_EXAMINED) return { items, next: key }
    }
    return { items }
  }

  removeTag(space: string, tag: string): Promise<void> {
    return this.environment.free(() => {
      const number = this.notices.add({ kind: 'tag', space, tag })
      this.environment.cacheMarks.putSync([space, tag], String(number))
    })
  }

  clear(space: string): Promise<void> {
    return this.environment.free(() => {
      const number = this.notices.add({ kind: 'cleared', space })
      this.environment.cacheMarks.putSync([space], String(number))
    })
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.notices.watch(listener)
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.sweeper.sweep(now)
  }

  stop(): void {
    this.notices.stop()
  }

  private entry(space: string, key: string, now: number): StoredValue | undefined {
    const row = this.environment.cacheEntries.get([space, key])
    if (row === undefined) return undefined
    const head = readHead(row)
    if (head.goneAt <= now || head.number < this.mark(space, head.tags)) return undefined
    return readValue(row, head, now)
  }

  private fillOf(space: string, key: string): FillRow | undefined {
    const text = this.environment.cacheFills.get([space, key])
    return text === undefined ? undefined : (JSON.parse(text) as FillRow)
  }

  /** Number of the last invalidation of the space or of one of the tags. Fills that began before it are not valid. */
  private mark(space: string, tags: readonly string[]): number {
    const { cacheMarks } = this.environment
    let mark = Number(cacheMarks.get([space]) ?? 0)
    for (const tag of tags) mark = Math.max(mark, Number(cacheMarks.get([space, tag]) ?? 0))
    return mark
  }
}
