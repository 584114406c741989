import type { UsageRow, UsageStep, UsageStore } from './port.js'
import type { Subject } from './types.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS: Record<UsageStep, number> = { hour: HOUR_MS, day: DAY_MS }
/** Counted, and not yet written down. */
const MAX_PENDING = 50_000
const ROWS_PER_WRITE = 5000

interface Counted {
  subject: Subject
  limit: string
  hour: number
  admitted: number
  denied: number
}

/** Counts in memory and writes it down now and then: what a process that is killed had not written is lost. */
export class UsageCounter {
  private pending = new Map<string, Map<string, Map<string, Counted>>>()
  private size = 0
  private writing: Promise<void> = Promise.resolve()
  private readonly timer: NodeJS.Timeout | undefined

  constructor(
    private readonly store: UsageStore,
    flushMs: number,
    private readonly report: (message: string, error: unknown) => void,
  ) {
    if (flushMs > 0) this.timer = setInterval(() => void this.flush(), flushMs).unref()
  }

  add(subject: Subject, limit: string, cost: number, isAdmitted: boolean, now: number): void {
    const hour = now - (now % HOUR_MS)
    const ofEntity = child(child(this.pending, subject.resource), subject.entity)
    let counted = ofEntity.get(limit)
    if (counted !== undefined && counted.hour !== hour) {
      void this.flush()
      this.add(subject, limit, cost, isAdmitted, now)
      return
    }
    if (counted === undefined) {
      counted = {
        subject: { entity: subject.entity, resource: subject.resource },
        limit,
        hour,
        admitted: 0,
        denied: 0,
      }
      ofEntity.set(limit, counted)
      this.size++
    }
    if (isAdmitted) counted.admitted += cost
    else counted.denied += cost
    if (this.size > MAX_PENDING) void this.flush()
  }

  flush(): Promise<void> {
    if (this.size === 0) return this.writing
    const counted = [...this.pending.values()].flatMap((entities) =>
      [...entities.values()].flatMap((limits) => [...limits.values()]),
    )
    this.pending = new Map()
    this.size = 0
    this.writing = this.writing.then(() => this.write(counted.flatMap(toRows)))
    return this.writing
  }

  private async write(rows: UsageRow[]): Promise<void> {
    try {
      for (let from = 0; from < rows.length; from += ROWS_PER_WRITE) {
        await this.store.count(rows.slice(from, from + ROWS_PER_WRITE))
      }
    } catch (error) {
      this.report('usage of limits could not be written down, and is lost', error)
    }
  }

  async read(subject: Subject, step: UsageStep, from: number, to: number): Promise<UsageRow[]> {
    await this.flush()
    return this.store.read(subject, step, Math.floor(from / STEP_MS[step]) * STEP_MS[step], to)
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.flush()
  }
}

function toRows({ subject, limit, hour, admitted, denied }: Counted): UsageRow[] {
  const { entity, resource } = subject
  return (['hour', 'day'] as const).map((step) => {
    const start = Math.floor(hour / STEP_MS[step]) * STEP_MS[step]
    return { entity, resource, limit, step, start, admitted, denied }
  })
}

function child<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  let found = maps.get(name)
  if (found === undefined) maps.set(name, (found = new Map()))
  return found
}
