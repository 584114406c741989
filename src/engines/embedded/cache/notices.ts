import { every } from '../../../core/timers.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import type { Environment } from '../lmdb/environment.js'

export type ChangeNotice = Exclude<CacheNotice, { kind: 'lost' | 'resumed' }>
type Kept = [origin: string, notice: ChangeNotice]
type Listener = (notice: CacheNotice) => void

const NUMBER = 'cache-number'
const KEPT = 10_000
const POLL_MS = 100

/** Invalidations that instances share: rows numbered without gaps, which every instance polls. */
export class CacheNotices {
  private readonly listeners = new Set<Listener>()
  private timer: NodeJS.Timeout | undefined
  private last = 0
  private isLost = false

  constructor(
    private readonly environment: Environment,
    /** Id of this instance. */
    private readonly origin: string,
  ) {}

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

  watch(listener: Listener): () => void {
    this.listeners.add(listener)
    if (this.timer === undefined) {
      this.environment.refresh()
      this.last = this.number()
      this.timer = every(() => this.look(), POLL_MS).unref()
    }
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.stop()
    }
  }

  stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }

  private look(): void {
    try {
      this.environment.refresh()
      const number = this.number()
      if (number !== this.last) this.follow(number)
    } catch {
      this.lose()
      return
    }
    this.resume()
  }

  private follow(number: number): void {
    const { cacheNotices } = this.environment
    const rows = Array.from(cacheNotices.getRange({ start: this.last + 1, end: number + 1 }))
    if (rows.length !== number - this.last) this.lose()
    else {
      for (const { value } of rows) {
        const [origin, notice] = JSON.parse(value) as Kept
        if (origin !== this.origin) this.tell(notice)
      }
    }
    this.last = number
  }

  private lose(): void {
    if (!this.isLost) this.tell({ kind: 'lost' })
    this.isLost = true
  }

  private resume(): void {
    if (this.isLost) this.tell({ kind: 'resumed' })
    this.isLost = false
  }

  private tell(notice: CacheNotice): void {
    for (const listener of this.listeners) listener(notice)
  }
}
