import { withAdjustment } from '../../../guards/rate-limit/adjustments.js'
import { applicableDelta, type LeaseSums } from '../../../guards/rate-limit/decide.js'
import type { LeaseOutcome, LeaseUse } from '../../../guards/rate-limit/port.js'
import {
  flag,
  flagOf,
  type Item,
  number,
  numberOf,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import type { DecidingClock } from './deciding-clock.js'
import { leaseKey, subjectKey } from './keys.js'
import { type CachedSubject, readKnown } from './limit-state.js'
import type { Marks } from './marks.js'
import type { Notices } from './notices.js'
import type { SubjectCache } from './subject-cache.js'
import { draftCorrection, guessAfter } from './subject-updates.js'
import { type LimitTable, readSubject, retryUntilDone, ttlOf } from './table.js'

interface Parts {
  guards: LimitTable
  times: DecidingClock
  notices: Notices
  memory: SubjectCache
  marks: Marks
}

/** The stored state of a used lease; version 0: nothing yet. */
interface LeaseRecord {
  version: number
  isBack: boolean
  /** The sums of its adjustments, for each subject and limit. */
  sums: readonly LeaseSums[]
  /** Names of its last adjustments. */
  adjustments: readonly string[]
}

/** A subject of a lease, and what an attempt knows of it. */
interface Corrected {
  known: CachedSubject | undefined
  isSeen: boolean
}

/** Undefined if the change was made before. */
type Change = (record: LeaseRecord) => { amounts: number[][]; next: Omit<LeaseRecord, 'version'> } | undefined

/** Corrects consumed amounts: the item of the lease and those of its subjects in one transaction, so exactly once. */
export class Corrections {
  constructor(private readonly parts: Parts) {}

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.use(lease, now, ({ sums, adjustments: known }) => {
      if (known.includes(adjustment)) return undefined
      const amounts = lease.subjects.map(({ limits }, i) =>
        limits.map((limit, j) => applicableDelta(limit, sums[i]![j]!)),
      )
      const next = sums.map((ofSubject, i) => ofSubject.map((sum, j) => sum + amounts[i]![j]!))
      return { amounts, next: { isBack: false, sums: next, adjustments: withAdjustment(known, adjustment) } }
    })
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.use(lease, now, ({ sums }) => ({
      amounts: lease.subjects.map(({ limits }, i) => limits.map(({ cost }, j) => -(cost + sums[i]![j]!))),
      next: { isBack: true, sums, adjustments: [] },
    }))
  }

  private async use(lease: LeaseUse, now: number, change: Change): Promise<LeaseOutcome> {
    const { guards, times, memory } = this.parts
    const time = times.since(now)
    // What is known of a lease goes when it has run out: it could be given back once more.
    if (time() >= lease.expiresAt) return 'expired'
    let record: LeaseRecord = noRecord(lease)
    const subjects: Corrected[] = lease.subjects.map((subject) => ({
      known: memory.get(subject),
      isSeen: false,
    }))
    let isContended = false
    return retryUntilDone(guards, async () => {
      const changed = change(record)
      if (changed === undefined) return 'done' as const
      const { amounts, next } = changed
      const { updates, guesses } = await this.updates(lease, subjects, amounts, time(), isContended)
      const written = leaseWrite(guards.table, lease, record, next)
      const result = await guards.client.transactWrite('limit.correct', [
        written,
        ...updates.map(([, item]) => item),
      ])
      if (result.applied) {
        guesses.forEach((known, i) => {
          memory.set(lease.subjects[i]!, known)
        })
        this.tellFreed(lease, amounts)
        return 'done' as const
      }
      for (const { index, item } of result.refusals) {
        if (index === 0) {
          if (item !== undefined) record = readRecord(lease, item)
          continue
        }
        const [i] = updates[index - 1]!
        isContended ||= subjects[i]!.isSeen
        subjects[i] = { known: readKnown(item), isSeen: true }
      }
      return record.isBack ? 'given-back' : undefined
    })
  }

  /** The updates by the index of their subject, and the expected items after them. */
  private async updates(
    lease: LeaseUse,
    subjects: Corrected[],
    amounts: readonly (readonly number[])[],
    now: number,
    isContended: boolean,
  ): Promise<{ updates: [subject: number, item: TransactionItem][]; guesses: Map<number, CachedSubject> }> {
    const { guards, marks } = this.parts
    const updates: [number, TransactionItem][] = []
    const guesses = new Map<number, CachedSubject>()
    for (const [i, subject] of lease.subjects.entries()) {
      const draftOf = (known: CachedSubject) =>
        draftCorrection(known, subject.limits, amounts[i]!, lease.takenAt, now, isContended)
      if (amounts[i]!.every((amount) => amount === 0)) continue
      let { known, isSeen } = subjects[i]!
      let drafted = known && draftOf(known)
      // If there seems to be nothing to correct, or the whole item must be known, it is read.
      if (drafted === undefined || (drafted.mustBeSeen && !isSeen)) {
        known = await readSubject(guards, subject)
        isSeen = true
        drafted = draftOf(known)
      }
      subjects[i] = { known, isSeen }
      if (drafted.draft === undefined) continue
      drafted.draft.mark(marks.next())
      updates.push([i, { Update: drafted.draft.request(guards.table, subjectKey(subject)) }])
      guesses.set(i, guessAfter(known!, subject.limits, drafted.states))
    }
    return { updates, guesses }
  }

  /** Denials of concurrency slots are not cached, because slots are freed all the time. */
  private tellFreed({ subjects }: LeaseUse, amounts: readonly (readonly number[])[]): void {
    const freed = subjects.filter(({ limits }, i) =>
      limits.some(({ rule }, j) => amounts[i]![j]! < 0 && rule.algorithm !== 'concurrency'),
    )
    if (freed.length > 0) this.parts.notices.tellFreedSoon(freed)
  }
}

const noRecord = ({ subjects }: LeaseUse): LeaseRecord => ({
  version: 0,
  isBack: false,
  sums: subjects.map(({ limits }) => limits.map(() => 0)),
  adjustments: [],
})

const sumAttribute = (subject: number, name: string): string => `sum#${subject}#${name}`

function readRecord({ subjects }: LeaseUse, item: Item): LeaseRecord {
  return {
    version: numberOf(item, 'version'),
    isBack: flagOf(item, 'back'),
    sums: subjects.map(({ limits }, i) =>
      limits.map(({ name }) => optionalNumber(item, sumAttribute(i, name)) ?? 0),
    ),
    adjustments: optionalText(item, 'adjustments')?.split(' ') ?? [],
  }
}

function leaseWrite(
  TableName: string,
  { id, expiresAt, subjects }: LeaseUse,
  before: LeaseRecord,
  next: Omit<LeaseRecord, 'version'>,
): TransactionItem {
  const expression = new Expression()
  const version = before.version === 0 ? undefined : number(before.version)
  const item: Item = { ...leaseKey(id), version: number(before.version + 1), ttl: number(ttlOf(expiresAt)) }
  if (next.isBack) item.back = flag(true)
  if (next.adjustments.length > 0) item.adjustments = text(next.adjustments.join(' '))
  subjects.forEach(({ limits }, i) => {
    limits.forEach(({ name }, j) => {
      const sum = next.sums[i]![j]!
      if (sum !== 0) item[sumAttribute(i, name)] = number(sum)
    })
  })
  const ConditionExpression = expression.equals('version', version)
  return { Put: { TableName, Item: item, ConditionExpression, ...expression.parts() } }
}
