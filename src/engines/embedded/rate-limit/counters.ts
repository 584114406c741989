import type { Database, Key } from 'lmdb'
import { type Listing, type ListingRequest, MAX_EXAMINED, placeParts } from '../../../core/listing.js'
import { withAdjustment } from '../../../guards/rate-limit/adjustments.js'
import {
  applicableDelta,
  correct,
  decide,
  expiresAt,
  type LeaseSums,
} from '../../../guards/rate-limit/decide.js'
import type { LeaseOutcome, LeaseUse, SubjectCosts, Taken } from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Environment } from '../lmdb/environment.js'
import { LimitRows, type Row } from './rows.js'

/**
 * A row of `leases`: when it expires, the sums of deltas for each subject (null: given back), and the names of its
 * last adjustments.
 */
type LeaseRow = [expiresAt: number, sums: LeaseSums[] | null, adjustments?: string[]]

/** How often to look whether other processes have freed capacity. */
export const FREED_POLL_MS = 250

const FREED = 'limits-freed'
const SCANNED_PER_STEP = 2000

export type SubjectListing = ListingRequest & { resource?: string }

export interface TakeRequest {
  subjects: readonly SubjectCosts[]
  now: number
}

/** Whether nothing is consumed: a full store still allows that. In most calls the first cost is above 0. */
const isLooking = (questions: readonly TakeRequest[]): boolean =>
  questions.every(({ subjects }) => subjects.every(({ limits }) => limits.every(({ cost }) => cost === 0)))

/** Rate-limit states in one LMDB environment, for the thread that writes it. */
export class LimitCounters {
  private statesFrom: string[] | undefined
  private leasesFrom: string | undefined
  private readonly rows: LimitRows

  constructor(private readonly environment: Environment) {
    this.rows = new LimitRows(environment)
  }

  /** Many decisions in one transaction. A row that several of them use is read and written once. */
  take(questions: readonly TakeRequest[]): Promise<Taken[]> {
    const taking = (): Taken[] => {
      this.rows.open()
      const answers = questions.map(({ subjects, now }) => takeOne(this.rows, subjects, now))
      this.rows.store()
      return answers
    }
    return isLooking(questions) ? this.environment.free(taking) : this.environment.write(taking)
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.environment.write(() => {
      if (lease.expiresAt <= now) return 'expired'
      const row = this.leaseRow(lease.id)
      if (row?.[1] === null) return 'given-back'
      const known = row?.[2] ?? []
      if (known.includes(adjustment)) return 'done'
      const sums = row?.[1] ?? lease.subjects.map(({ limits }) => limits.map(() => 0))
      const deltas = lease.subjects.map(({ limits }, i) =>
        limits.map((limit, j) => applicableDelta(limit, sums[i]![j]!)),
      )
      this.correct(lease, deltas, now)
      const next = sums.map((ofSubject, i) => ofSubject.map((sum, j) => sum + deltas[i]![j]!))
      this.storeLease(lease, next, withAdjustment(known, adjustment))
      return 'done'
    })
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.environment.free(() => {
      if (lease.expiresAt <= now) return 'expired'
      const row = this.leaseRow(lease.id)
      if (row?.[1] === null) return 'given-back'
      const amounts = lease.subjects.map(({ limits }, i) =>
        limits.map(({ cost }, j) => -(cost + (row?.[1]?.[i]?.[j] ?? 0))),
      )
      this.correct(lease, amounts, now)
      this.storeLease(lease, null, [])
      return 'done'
    })
  }

  async list({ resource, prefix, after, limit }: SubjectListing): Promise<Listing<Subject>> {
    this.environment.refresh()
    const behind = after === undefined ? undefined : placeParts(after, 2)
    const start = behind ?? [prefix]
    const items: Subject[] = []
    let examined = 0
    for (const key of this.environment.limitStates.getKeys({ start })) {
      const [entity, ofResource] = key as string[]
      if (entity === behind?.[0] && ofResource === behind?.[1]) continue
      if (!entity!.startsWith(prefix)) break
      if (resource === undefined || ofResource === resource)
        items.push({ entity: entity!, resource: ofResource! })
      if (items.length === limit || ++examined === MAX_EXAMINED) return { items, next: JSON.stringify(key) }
    }
    return { items }
  }

  reset({ entity, resource }: Subject): Promise<boolean> {
    return this.environment.free(() => {
      this.bumpFreed()
      this.rows.forget()
      return this.environment.limitStates.removeSync([entity, resource])
    })
  }

  /** A number that grows whenever capacity is freed that an earlier call was denied. */
  freed(): number {
    this.environment.refresh()
    return Number(this.environment.settings.get(FREED) ?? 0)
  }

  /**
   * Rows have no index by time, because every decision would have to maintain it. So it walks over all rows, one
   * batch per call.
   */
  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    this.environment.refresh()
    const { limitStates, leases } = this.environment
    const isOver = (text: string) => (JSON.parse(text) as Row | LeaseRow)[0] <= now
    const states = stretch<string[]>(limitStates, this.statesFrom)
    const used = stretch<string>(leases, this.leasesFrom)
    this.statesFrom = states.next
    this.leasesFrom = used.next
    const deadStates = states.rows.filter(({ value }) => isOver(value)).map(({ key }) => key)
    const deadLeases = used.rows.filter(({ value }) => isOver(value)).map(({ key }) => key)
    if (deadStates.length + deadLeases.length === 0) return { swept: 0, more: false }
    const swept = await this.environment.free(() => {
      this.rows.forget()
      // Checked again: another process may have consumed meanwhile.
      const over = <Key>(database: { get(key: Key): string | undefined }, key: Key) =>
        isOver(database.get(key) ?? '[0]')
      const states = deadStates.filter((key) => over(limitStates, key) && limitStates.removeSync(key))
      const used = deadLeases.filter((key) => over(leases, key) && leases.removeSync(key))
      return states.length + used.length
    })
    return { swept, more: swept > SCANNED_PER_STEP / 2 }
  }

  private correct(lease: LeaseUse, amounts: readonly (readonly number[])[], now: number): void {
    const { rows } = this
    rows.open()
    lease.subjects.forEach((subject, i) => {
      const opened = rows.opened(subject)
      const states = correct(opened.row[1], subject.limits, amounts[i]!, lease.takenAt, now)
      if (states !== undefined) rows.change(opened, states, expiresAt(states, subject.limits, now))
    })
    rows.store()
    if (amounts.some((ofSubject) => ofSubject.some((amount) => amount < 0))) this.bumpFreed()
  }

  private leaseRow(id: string): LeaseRow | undefined {
    const text = this.environment.leases.get(id)
    return text === undefined ? undefined : (JSON.parse(text) as LeaseRow)
  }

  private storeLease({ id, expiresAt }: LeaseUse, sums: LeaseSums[] | null, adjustments: string[]): void {
    this.environment.leases.putSync(id, JSON.stringify([expiresAt, sums, adjustments] satisfies LeaseRow))
  }

  private bumpFreed(): void {
    const { settings } = this.environment
    settings.putSync(FREED, String(Number(settings.get(FREED) ?? 0) + 1))
  }
}

function takeOne(rows: LimitRows, subjects: readonly SubjectCosts[], now: number): Taken {
  const opened = subjects.map((subject) => rows.opened(subject))
  const before = opened.map(({ row }) => row[1])
  const { allowed, views, states } = decide(before, subjects, now)
  for (let i = 0; i < opened.length; i++) {
    const after = states[i]
    if (after === undefined) continue
    let longest = 0
    for (const { resetMs } of views[i]!) if (resetMs > longest) longest = resetMs
    rows.change(opened[i]!, after, now + longest)
  }
  return { allowed, at: now, views }
}

/**
 * One batch of a database from a key on, and where the next batch begins. After the end, the next begins at the
 * start.
 */
function stretch<K extends Key>(
  database: Database<string, K>,
  from: K | undefined,
): { rows: { key: K; value: string }[]; next: K | undefined } {
  const range = { ...(from === undefined ? {} : { start: from }), limit: SCANNED_PER_STEP + 1 }
  const rows = Array.from(database.getRange(range)) as { key: K; value: string }[]
  const next = rows.length > SCANNED_PER_STEP ? rows.pop()!.key : undefined
  return { rows, next }
}
