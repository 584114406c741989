import { type Listing, type ListingRequest, MAX_EXAMINED } from '../../../core/listing.js'
import { every } from '../../../core/timers.js'
import {
  type Attempt,
  type AttemptOutcome,
  FENCE_KEPT_MS,
  type ListedLock,
  type LockStore,
  nextFence,
  type OwnerOutcome,
  type StoredLock,
} from '../../../guards/lock/port.js'
import type { Environment } from '../lmdb/environment.js'

/** The last fence, when the lock ends or ended, and its owner; null after a release. */
type Row = [fence: number, endsAt: number, owner: string | null]

const SCANNED_PER_STEP = 2000
/** Reading a row is a read of mapped memory, so waiters can poll often. */
const WATCH_MS = 10

/** Locks in one LMDB environment. Its write transactions exclude each other across all processes. */
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

  async list({ prefix, after, limit }: ListingRequest, now: number): Promise<Listing<ListedLock>> {
    this.environment.refresh()
    const items: ListedLock[] = []
    let examined = 0
    for (const { key: name, value } of this.environment.locks.getRange(startAt(after ?? prefix))) {
      if (name === after) continue
      if (!name.startsWith(prefix)) break
      const row = JSON.parse(value) as Row
      if (holderOf(row, now) !== undefined) items.push({ name, fence: row[0], expiresAt: row[1] })
      if (items.length === limit || ++examined === MAX_EXAMINED) return { items, next: name }
    }
    return { items }
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

  /** Whether there are rows to look at. */
  hasDue(): boolean {
    this.environment.refresh()
    return Array.from(this.environment.locks.getKeys({ limit: 1 })).length > 0
  }

  /** Deletes fences that were not used for a day. New fences come from the clock, so they are higher. */
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
        // Checked again: another process may have acquired the lock meanwhile.
        for (const name of over) if (isOver(locks.get(name))) locks.removeSync(name)
      })
    }
    return { more: over.length > SCANNED_PER_STEP / 2 }
  }

  /** Changes an existing row. Allowed in a full store, so that a held lock can be extended and released. */
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
      // The store is closed or failing. The next call reports it.
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

const startAt = (start: string) => (start === '' ? {} : { start })

function holderOf(row: Row | undefined, now: number): string | undefined {
  return row === undefined || row[1] <= now ? undefined : (row[2] ?? undefined)
}
