import { every } from '../../../core/timers.js'
import {
  type Attempt,
  type AttemptOutcome,
  FENCE_KEPT_MS,
  type LockStore,
  nextFence,
  type OwnerOutcome,
  type StoredLock,
} from '../../../guards/lock/port.js'
import type { Environment } from '../lmdb/environment.js'

/** The last fence, when the lock ends or ended, and who has it; nobody once it was released. */
type Row = [fence: number, endsAt: number, owner: string | null]

const SCANNED_PER_STEP = 2000
/** A look at a row is a read of mapped memory: those who wait look often. */
const WATCH_MS = 10

/** Locks in one LMDB environment, where a transaction decides over all processes. */
export class EmbeddedLocks implements LockStore {
  readonly pollMs = 100
  private sweepFrom: string | undefined
  private readonly watched = new Map<string, Set<() => void>>()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly environment: Environment) {}

  acquire({ name, owner, ttlMs }: Attempt, now: number): Promise<AttemptOutcome> {
    return this.environment.write((): AttemptOutcome => {
      const row = this.row(name)
      const holder = holderOf(row, now)
      if (holder !== undefined && holder !== owner) return { outcome: 'held', retryAfterMs: row![1] - now }
      const fence = holder === owner ? row![0] : nextFence(row?.[0], now)
      this.store(name, [fence, now + ttlMs, owner])
      return { outcome: 'acquired', fence }
    })
  }

  extend(name: string, owner: string, ttlMs: number, now: number): Promise<OwnerOutcome> {
    return this.change(name, owner, now, ([fence]) => [fence, now + ttlMs, owner])
  }

  release(name: string, owner: string, now: number): Promise<OwnerOutcome> {
    return this.change(name, owner, now, ([fence]) => [fence, now, null])
  }

  async read(name: string, now: number): Promise<StoredLock | undefined> {
    this.environment.refresh()
    const row = this.row(name)
    if (row === undefined) return undefined
    const isHeld = holderOf(row, now) !== undefined
    return { isHeld, fence: row[0], expiresAt: isHeld ? row[1] : undefined }
  }

  remove(name: string, now: number): Promise<boolean> {
    return this.environment.free(() => {
      const row = this.row(name)
      if (holderOf(row, now) === undefined) return false
      this.store(name, [row![0], now, null])
      return true
    })
  }

  watch(name: string, onFree: () => void): () => void {
    const listeners = this.watched.get(name) ?? new Set()
    this.watched.set(name, listeners.add(onFree))
    this.timer ??= every(() => this.look(), WATCH_MS).unref()
    return () => {
      if (listeners.delete(onFree) && listeners.size === 0) this.watched.delete(name)
      if (this.watched.size > 0) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Fences that nobody has used for a day: the time has long passed them. */
  async sweep(now: number): Promise<{ more: boolean }> {
    this.environment.refresh()
    const { locks } = this.environment
    const isOver = (text: string | undefined) =>
      text !== undefined && (JSON.parse(text) as Row)[1] + FENCE_KEPT_MS <= now
    const from = this.sweepFrom === undefined ? {} : { start: this.sweepFrom }
    const rows = [...locks.getRange({ ...from, limit: SCANNED_PER_STEP })]
    this.sweepFrom = rows.length === SCANNED_PER_STEP ? rows.at(-1)!.key : undefined
    const over = rows.filter(({ value }) => isOver(value)).map(({ key }) => key)
    if (over.length > 0) {
      await this.environment.free(() => {
        // Somebody may have taken it meanwhile.
        for (const name of over) if (isOver(locks.get(name))) locks.removeSync(name)
      })
    }
    return { more: over.length > SCANNED_PER_STEP / 2 }
  }

  /** Of a row that is there: also in a store that is full, so that what is held can be kept and given back. */
  private change(name: string, owner: string, now: number, next: (row: Row) => Row): Promise<OwnerOutcome> {
    return this.environment.free(() => {
      const row = this.row(name)
      if (holderOf(row, now) !== owner) return 'lost'
      this.store(name, next(row!))
      return 'done'
    })
  }

  private look(): void {
    try {
      this.environment.refresh()
      for (const [name, listeners] of [...this.watched]) {
        if (this.row(name)?.[2] === null) for (const onFree of [...listeners]) onFree()
      }
    } catch {
      // Closed, or out of order: whoever asks next is told.
    }
  }

  private row(name: string): Row | undefined {
    const text = this.environment.locks.get(name)
    return text === undefined ? undefined : (JSON.parse(text) as Row)
  }

  private store(name: string, row: Row): void {
    this.environment.locks.putSync(name, JSON.stringify(row))
  }
}

function holderOf(row: Row | undefined, now: number): string | undefined {
  return row === undefined || row[1] <= now ? undefined : (row[2] ?? undefined)
}
