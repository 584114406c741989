import { every } from '../timers.js'
import type { LimitView } from './algorithms/verdict.js'
import type { SubjectCosts, UsageRow, UsageStep, UsageStore } from './port.js'
import type { Subject } from './types.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS: Record<UsageStep, number> = { hour: HOUR_MS, day: DAY_MS }
/** Counted, and not yet written down. */
const MAX_PENDING = 50_000
const ROWS_PER_WRITE = 5000

/** What was counted of one limit of a subject in one hour, since it was last written down; and of its next limit. */
export interface Counted extends Subject {
  limit: string
  hour: number
  admitted: number
  denied: number
  next: Counted | undefined
  /** Of which writing down: one that has been is not counted on. */
  generation: number
}

/** Where the last count of a subject is kept, so that it need not be looked for. */
interface Keeper {
  counted: Counted | undefined
}

/** Counts in memory and writes it down now and then: what a process that is killed had not written is lost. */
export class UsageCounter {
  /** The first limit of each subject. */
  private pending = new Map<string, Map<string, Counted>>()
  private size = 0
  private generation = 0
  private writing: Promise<void> = Promise.resolve()
  private readonly timer: NodeJS.Timeout | undefined

  constructor(
    private readonly store: UsageStore,
    flushMs: number,
    private readonly report: (message: string, error: unknown) => void,
  ) {
    if (flushMs > 0) this.timer = every(() => this.flush(), flushMs).unref()
  }

  /** Of an answer of the engine: what was taken, or without views what was denied. */
  add(
    subject: SubjectCosts,
    views: readonly LimitView[] | undefined,
    now: number,
    keeper: Keeper | undefined,
  ): void {
    const { limits } = subject
    for (let i = 0; i < limits.length; i++) {
      const { name, cost } = limits[i]!
      if (cost === 0) continue
      const counted = this.countedOf(subject, name, now, keeper)
      if (views !== undefined && views[i]!.retryAfterMs === 0) counted.admitted += cost
      else counted.denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  /** Of a denial that was known. */
  addDenied(
    subject: Subject,
    limits: Record<string, unknown>,
    consume: Record<string, number> | undefined,
    now: number,
  ): void {
    for (const name in limits) {
      const cost = consume === undefined ? 1 : Object.hasOwn(consume, name) ? consume[name]! : 0
      if (cost > 0) this.countedOf(subject, name, now, undefined).denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  private countedOf(subject: Subject, limit: string, now: number, keeper: Keeper | undefined): Counted {
    const kept = keeper?.counted
    let first = kept?.generation === this.generation ? kept : this.find(subject)
    const hour = now - (now % HOUR_MS)
    if (first !== undefined && first.hour !== hour) {
      void this.flush()
      first = undefined
    }
    if (keeper !== undefined && first !== kept) keeper.counted = first
    let last: Counted | undefined
    for (let one = first; one !== undefined; one = one.next) {
      if (one.limit === limit) return one
      last = one
    }
    const { entity, resource } = subject
    const { generation } = this
    const next = undefined
    const counted: Counted = { entity, resource, limit, hour, admitted: 0, denied: 0, next, generation }
    this.size++
    if (last !== undefined) last.next = counted
    else this.keepFirst(counted)
    if (keeper !== undefined && first === undefined) keeper.counted = counted
    return counted
  }

  private find({ entity, resource }: Subject): Counted | undefined {
    return this.pending.get(resource)?.get(entity)
  }

  private keepFirst(counted: Counted): void {
    let ofResource = this.pending.get(counted.resource)
    if (ofResource === undefined) this.pending.set(counted.resource, (ofResource = new Map()))
    ofResource.set(counted.entity, counted)
  }

  flush(): Promise<void> {
    if (this.size === 0) return this.writing
    const counted = [...this.pending.values()].flatMap((entities) => [...entities.values()])
    this.pending = new Map()
    this.size = 0
    this.generation++
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

function toRows(first: Counted): UsageRow[] {
  const rows: UsageRow[] = []
  for (let one: Counted | undefined = first; one !== undefined; one = one.next) {
    const { entity, resource, limit, hour, admitted, denied } = one
    for (const step of ['hour', 'day'] as const) {
      const start = Math.floor(hour / STEP_MS[step]) * STEP_MS[step]
      rows.push({ entity, resource, limit, step, start, admitted, denied })
    }
  }
  return rows
}
