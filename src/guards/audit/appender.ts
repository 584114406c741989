import type { Clock } from '../../core/clock.js'
import { soon } from '../../core/timers.js'
import { DAY_MS } from './entry-id.js'
import { type AuditStore, MAX_APPENDED, type StoredEntry } from './port.js'

interface PendingEntry {
  entries: readonly StoredEntry[]
  resolve(): void
  reject(error: unknown): void
}

/** Appends entries to the store. Entries of one turn of the event loop are appended together. */
export class Appender {
  private waiting: PendingEntry[] = []

  constructor(
    private readonly store: AuditStore,
    private readonly clock: Clock,
    private readonly retentionDays: number,
  ) {}

  add(entries: readonly StoredEntry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ entries, resolve, reject })
      if (this.waiting.length === 1) soon(() => this.flush())
    })
  }

  private flush(): void {
    const waiting = this.waiting
    this.waiting = []
    for (const group of groups(waiting)) {
      this.append(group.flatMap(({ entries }) => entries)).then(
        () => {
          for (const one of group) one.resolve()
        },
        (error) => {
          for (const one of group) one.reject(error)
        },
      )
    }
  }

  private async append(entries: readonly StoredEntry[]): Promise<void> {
    const keeping = { retentionMs: this.retentionDays * DAY_MS, now: this.clock.now() }
    for (let at = 0; at < entries.length; at += MAX_APPENDED) {
      await this.store.append(entries.slice(at, at + MAX_APPENDED), keeping)
    }
  }
}

/** Groups of at most `MAX_APPENDED` entries. */
function* groups(waiting: readonly PendingEntry[]): Generator<PendingEntry[]> {
  let group: PendingEntry[] = []
  let size = 0
  for (const one of waiting) {
    if (group.length > 0 && size + one.entries.length > MAX_APPENDED) {
      yield group
      group = []
      size = 0
    }
    group.push(one)
    size += one.entries.length
  }
  if (group.length > 0) yield group
}
