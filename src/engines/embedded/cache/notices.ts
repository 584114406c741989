import { type ChangeNotice, NoticeFeed } from '../../../guards/cache/notice-feed.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import type { Environment } from '../lmdb/environment.js'

type Kept = [origin: string, notice: ChangeNotice]

const NUMBER = 'cache-number'
const KEPT = 10_000
const POLL_MS = 100

/** Invalidations that instances share: rows numbered without gaps, which every instance polls. */
export class CacheNotices {
  private readonly feed: NoticeFeed<string>

  constructor(
    private readonly environment: Environment,
    /** Id of this instance. */
    private readonly origin: string,
  ) {
    this.feed = new NoticeFeed(
      {
        head: () => {
          environment.refresh()
          return this.number()
        },
        read: (from, to) =>
          Array.from(environment.cacheNotices.getRange({ start: from, end: to + 1 }), ({ value }) => value),
        noticesOf: (row) => {
          const [writer, notice] = JSON.parse(row) as Kept
          return writer === origin ? [] : [notice]
        },
      },
      { pollMs: POLL_MS, maxEntries: KEPT },
    )
  }

  /** Number of the last invalidation. */
  number(): number {
    return Number(this.environment.settings.get(NUMBER) ?? 0)
  }

  /** Runs in a write transaction. Returns the number of the notice. */
  add(notice: ChangeNotice): number {
    const number = this.number() + 1
    const { settings, cacheNotices } = this.environment
    settings.putSync(NUMBER, String(number))
    cacheNotices.putSync(number, JSON.stringify([this.origin, notice] satisfies Kept))
    cacheNotices.removeSync(number - KEPT)
    return number
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.feed.watch(listener)
  }

  stop(): void {
    void this.feed.close()
  }
}
