import type { LimitView } from './algorithms/verdict.js'
import type { SubjectCosts, UsageRow, UsageStep, UsageStore } from './port.js'
import type { Subject } from './types.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS: Record<UsageStep, number> = { hour: HOUR_MS, day: DAY_MS }
/** Counted, and not yet written down. */
const MAX_PENDING = 50_000
const ROWS_PER_WRITE = 5000

/** What was counted of one limit. */
interface Counted {
  limit: string
  admitted: number
  denied: number
}

/** What was counted of a subject, all in the same hour; few limits, so a list is found through sooner than a map. */
interface CountedSubject {
  subject: Subject
  hour: number
  limits: Counted[]
}

/** Counts in memory and writes it down now and then: what a process that is killed had not written is lost. */
export class UsageCounter {
  private pending = new Map<string, Map<string, CountedSubject>>()
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

  /** Of an answer of the engine: what was taken, or without views what was denied. */
  add(
    { entity, resource, limits }: SubjectCosts,
    views: readonly LimitView[] | undefined,
    now: number,
  ): void {
    const counted = this.counted(entity, resource, now)
    for (let i = 0; i < limits.length; i++) {
      const { name, cost } = limits[i]!
      if (cost === 0) continue
      const of = this.limitOf(counted, name)
      if (views !== undefined && views[i]!.retryAfterMs === 0) of.admitted += cost
      else of.denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  /** Of a denial that was known. */
  addDenied(
    { entity, resource }: Subject,
    limits: Record<string, unknown>,
    consume: Record<string, number> | undefined,
    now: number,
  ): void {
    const counted = this.counted(entity, resource, now)
    for (const name in limits) {
      const cost = consume === undefined ? 1 : Object.hasOwn(consume, name) ? consume[name]! : 0
      if (cost > 0) this.limitOf(counted, name).denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  private counted(entity: string, resource: string, now: number): CountedSubject {
    const hour = now - (now % HOUR_MS)
    let ofResource = this.pending.get(resource)
    let counted = ofResource?.get(entity)
    if (counted !== undefined && counted.hour !== hour) {
      void this.flush()
      ofResource = counted = undefined
    }
    if (counted !== undefined) return counted
    if (ofResource === undefined) this.pending.set(resource, (ofResource = new Map()))
    counted = { subject: { entity, resource }, hour, limits: [] }
    ofResource.set(entity, counted)
    return counted
  }

  private limitOf({ limits }: CountedSubject, name: string): Counted {
    for (let i = 0; i < limits.length; i++) if (limits[i]!.limit === name) return limits[i]!
    const counted = { limit: name, admitted: 0, denied: 0 }
    limits.push(counted)
    this.size++
    return counted
  }

  flush(): Promise<void> {
    if (this.size === 0) return this.writing
    const counted = [...this.pending.values()].flatMap((entities) => [...entities.values()])
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

function toRows({ subject: { entity, resource }, hour, limits }: CountedSubject): UsageRow[] {
  return limits.flatMap((counted) =>
    (['hour', 'day'] as const).map((step) => {
      const start = Math.floor(hour / STEP_MS[step]) * STEP_MS[step]
      return { entity, resource, step, start, ...counted }
    }),
  )
}
