import { every } from '../../core/timers.js'
import type { LimitView } from './algorithms/algorithm.js'
import { ALL_RESOURCES } from './levels.js'
import type { EntityUse, LimitUse, SubjectCosts, UsageHour, UsageRetention, UsageStore } from './port.js'
import type { Subject, UsageStep } from './types.js'
import { addUp, heaviest } from './usage-hours.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS: Record<UsageStep, number> = { hour: HOUR_MS, day: DAY_MS }
/** Maximum number of counts waiting to be flushed. */
const MAX_PENDING = 50_000
/**
 * How many pairs of resource and limit have their own counts in an hour. Where `*` is configured callers choose the names of
 * resources, and each is a record in the store. Further pairs share the resource `*` and its limit `*`.
 */
const MAX_PAIRS = 1000

/** Counts of one limit of a subject in one hour since the last flush, linked to its next limit. */
export interface Counted extends Subject {
  limit: string
  hour: number
  admitted: number
  denied: number
  next: Counted | undefined
  /** The flush generation. A count of an earlier generation was flushed and must not be increased. */
  generation: number
}

/** Holds the last count of a subject, which saves a lookup. */
interface CountedHolder {
  counted: Counted | undefined
}

/** Counts in memory and flushes to the store at intervals. If the process is killed, unflushed counts are lost. */
export class UsageCounter {
  /** The first count of each subject. */
  private pending = new Map<string, Map<string, Counted>>()
  private size = 0
  /** The pairs that have their own counts in this hour. */
  private readonly pairs = new Set<string>()
  private pairsHour = 0
  private generation = 0
  private writing: Promise<void> = Promise.resolve()
  private readonly timer: NodeJS.Timeout | undefined

  constructor(
    private readonly store: UsageStore,
    private readonly isOn: boolean,
    private readonly kept: UsageRetention,
    flushMs: number,
    private readonly report: (message: string, error: unknown) => void,
  ) {
    if (isOn && flushMs > 0) this.timer = every(() => this.flush(), flushMs).unref()
  }

  /** Counts an answer of the engine: taken costs, or, without `views`, denied costs. */
  add(
    subject: SubjectCosts,
    views: readonly LimitView[] | undefined,
    now: number,
    holder: CountedHolder | undefined,
  ): void {
    if (!this.isOn) return
    const { limits } = subject
    for (let i = 0; i < limits.length; i++) {
      const { name, cost } = limits[i]!
      if (cost === 0) continue
      const counted = this.countedOf(subject, name, now, holder)
      if (views !== undefined && views[i]!.retryAfterMs === 0) counted.admitted += cost
      else counted.denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  /** Counts a denial decided in memory. */
  addDenied(
    subject: Subject,
    limits: Record<string, unknown>,
    consume: Record<string, number> | undefined,
    now: number,
  ): void {
    if (!this.isOn) return
    for (const name in limits) {
      const cost = consume === undefined ? 1 : Object.hasOwn(consume, name) ? consume[name]! : 0
      if (cost > 0) this.countedOf(subject, name, now, undefined).denied += cost
    }
    if (this.size > MAX_PENDING) void this.flush()
  }

  private countedOf(
    subject: Subject,
    limit: string,
    now: number,
    holder: CountedHolder | undefined,
  ): Counted {
    const kept = holder?.counted
    let first = kept?.generation === this.generation ? kept : this.find(subject)
    const hour = now - (now % HOUR_MS)
    if (first !== undefined && first.hour !== hour) {
      void this.flush()
      first = undefined
    }
    if (holder !== undefined && first !== kept) holder.counted = first
    let last: Counted | undefined
    for (let one = first; one !== undefined; one = one.next) {
      if (one.limit === limit) return one
      last = one
    }
    const { entity, resource } = subject
    if (resource !== ALL_RESOURCES && !this.isOwnPair(resource, limit, hour)) {
      return this.countedOf({ entity, resource: ALL_RESOURCES }, ALL_RESOURCES, now, undefined)
    }
    const { generation } = this
    const next = undefined
    const counted: Counted = { entity, resource, limit, hour, admitted: 0, denied: 0, next, generation }
    this.size++
    if (last !== undefined) last.next = counted
    else this.keepFirst(counted)
    if (holder !== undefined && first === undefined) holder.counted = counted
    return counted
  }

  private isOwnPair(resource: string, limit: string, hour: number): boolean {
    if (hour !== this.pairsHour) {
      this.pairsHour = hour
      this.pairs.clear()
    }
    const pair = JSON.stringify([resource, limit])
    if (this.pairs.size < MAX_PAIRS) this.pairs.add(pair)
    return this.pairs.has(pair)
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
    const { pending } = this
    this.pending = new Map()
    this.size = 0
    this.generation++
    this.writing = this.writing.then(() => this.write(pending))
    return this.writing
  }

  private async write(pending: ReadonlyMap<string, ReadonlyMap<string, Counted>>): Promise<void> {
    try {
      const hours = [...pending].flatMap(([resource, counted]) =>
        hoursOf(resource, counted, this.kept.entities),
      )
      await this.store.count(hours, this.kept)
    } catch (error) {
      this.report('usage of limits could not be written, and is lost', error)
    }
  }

  /** Sums by hour or day, oldest first, each with its known entities. */
  async read(resource: string, step: UsageStep, from: number, to: number): Promise<UsageHour[]> {
    await this.flush()
    const stepMs = STEP_MS[step]
    const hours = await this.store.read(resource, Math.floor(from / stepMs) * stepMs, to)
    return step === 'hour' ? hours : daysOf(resource, hours)
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.flush()
  }
}

/** Totals include every entity. Only entities that may be among the highest of the hour are passed on. */
function hoursOf(resource: string, counted: ReadonlyMap<string, Counted>, most: number): UsageHour[] {
  const byHour = new Map<number, EntityUse[]>()
  for (const first of counted.values()) {
    for (let one: Counted | undefined = first; one !== undefined; one = one.next) {
      const { entity, limit, admitted, denied } = one
      let uses = byHour.get(one.hour)
      if (uses === undefined) byHour.set(one.hour, (uses = []))
      uses.push({ entity, limit, admitted, denied })
    }
  }
  return Array.from(byHour, ([start, uses]) => {
    const kept = new Set(heaviest(uses, most))
    const totals = addUp(uses.map(({ entity: _, ...use }): LimitUse => use))
    return { resource, start, totals, entities: uses.filter(({ entity }) => kept.has(entity)) }
  })
}

function daysOf(resource: string, hours: readonly UsageHour[]): UsageHour[] {
  const days = new Map<number, UsageHour[]>()
  for (const hour of hours) {
    const start = hour.start - (hour.start % DAY_MS)
    days.set(start, [...(days.get(start) ?? []), hour])
  }
  return Array.from(days, ([start, ofDay]) => ({
    resource,
    start,
    totals: addUp(ofDay.flatMap(({ totals }) => totals)),
    entities: addUp(ofDay.flatMap(({ entities }) => entities)),
  }))
}
