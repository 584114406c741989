import { CatracaError } from '../../../core/errors.js'
import type { Listing, ListingRequest } from '../../../core/listing.js'
import { decide } from '../../../guards/rate-limit/decide.js'
import type {
  Freed,
  LeaseOutcome,
  LeaseUse,
  LimitStore,
  SubjectCosts,
  Taken,
} from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import { Expression } from '../client/expression.js'
import { scanPrefix } from '../client/scan-prefix.js'
import { PARTITION } from '../keys.js'
import { Corrections } from './corrections.js'
import type { DecidingClock } from './deciding-clock.js'
import type { Draft } from './draft.js'
import { readSubjectPartition, SUBJECT_SORT, subjectKey } from './keys.js'
import { type CachedSubject, NOTHING, readKnown, statesOf } from './limit-state.js'
import { Marks } from './marks.js'
import type { Notices } from './notices.js'
import { SubjectCache } from './subject-cache.js'
import { draftRewind, draftTake, viewsAfter } from './subject-updates.js'
import { type LimitTable, readSubject, readSubjects, retryUntilDone } from './table.js'

export class DynamodbLimits implements LimitStore {
  private readonly memory = new SubjectCache()
  private readonly marks = new Marks()
  private readonly corrections: Corrections

  constructor(
    private readonly guards: LimitTable,
    private readonly times: DecidingClock,
    private readonly notices: Notices,
    private readonly begin: () => Promise<void>,
  ) {
    const { memory, marks } = this
    this.corrections = new Corrections({ guards, times, notices, memory, marks })
  }

  async take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    const [one, other] = subjects
    this.notices.used()
    if (one === undefined) {
      await this.begin()
      return { allowed: true, at: this.times.at(now), views: [] }
    }
    if (other === undefined) return this.takeOne(one, now)
    // If nothing is consumed of one of them, both need not change in one transaction.
    const [first, second] = [one, other].map(({ limits }) => limits.some(({ cost }) => cost > 0))
    if (first && second) return this.takeBoth([one, other], now)
    const [own, above] = [await this.takeOne(one, now), await this.takeOne(other, now)]
    return { ...(second ? above : own), views: [own.views[0]!, above.views[0]!] }
  }

  /** One conditional update, chosen by the last known item. A refusal returns the current item for the next attempt. */
  async list({
    resource,
    prefix,
    ...page
  }: ListingRequest & { resource?: string }): Promise<Listing<Subject>> {
    const { client, table } = this.guards
    const scanned = { table, key: ['PK', 'SK'], sort: SUBJECT_SORT, attributes: [] }
    const wanted = { ...page, prefix: PARTITION.subject + prefix }
    const { items, ...next } = await scanPrefix(client, 'limit.list', scanned, wanted)
    const subjects = items.flatMap(({ PK }) => readSubjectPartition(PK!.S!) ?? [])
    const wholes = new Map(subjects.map((subject) => [`${subject.entity}#${subject.resource}`, subject]))
    return {
      items: [...wholes.values()].filter(
        (subject) => resource === undefined || subject.resource === resource,
      ),
      ...next,
    }
  }

  private takeOne(subject: SubjectCosts, now: number): Promise<Taken> {
    const { limits } = subject
    const time = this.times.since(now)
    let known = this.memory.get(subject) ?? NOTHING
    let [isSeen, isContended] = [false, false]
    return retryUntilDone(this.guards, async () => {
      const at = time()
      const { allowed, views, states } = decide([statesOf(known)], [subject], at)
      const draft = allowed ? draftTake(known, limits, views[0]!, states[0], at, isContended) : undefined
      if (draft === undefined) {
        const rewinding = draftRewind(known, limits, at)
        if (isSeen && rewinding !== undefined) {
          known = (await this.send(subject, rewinding)).after
          return undefined
        }
        if (isSeen) return { allowed, at, views }
        // A refused write costs a write; a read is cheaper.
        known = await readSubject(this.guards, subject)
        isSeen = true
        this.memory.set(subject, known)
        return undefined
      }
      const { after, isDone } = await this.send(subject, draft)
      known = after
      if (!isDone) {
        isContended ||= isSeen
        isSeen = true
        return undefined
      }
      return { allowed: true, at, views: [viewsAfter(known, limits, views[0]!, at)] }
    })
  }

  private async send(subject: Subject, draft: Draft): Promise<{ after: CachedSubject; isDone: boolean }> {
    const { client, table } = this.guards
    const mark = this.marks.next()
    draft.mark(mark)
    const input = { ...draft.request(table, subjectKey(subject)), ReturnValues: 'ALL_NEW' } as const
    // Repeated after a lost response, it finds its own mark, or consumes once more: never too little.
    const result = await client.updateItem('limit.take', input, { repeatable: true })
    const after = readKnown(result.item)
    this.memory.set(subject, after)
    return { after, isDone: result.applied || after.mark === mark }
  }

  /** Both or neither. A transaction does not return the new items, so they are read. */
  private takeBoth(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    const time = this.times.since(now)
    let known = subjects.map((subject) => this.memory.get(subject) ?? NOTHING)
    let [isSeen, isContended] = [false, false]
    return retryUntilDone(this.guards, async () => {
      const at = time()
      const { allowed, views, states } = decide(known.map(statesOf), subjects, at)
      const drafts = subjects.map(({ limits }, i) =>
        allowed ? draftTake(known[i]!, limits, views[i]!, states[i], at, isContended) : undefined,
      )
      if (drafts.every((draft) => draft === undefined)) {
        const rewinding = known.map((one, i) => draftRewind(one, subjects[i]!.limits, at))
        if (isSeen && rewinding.some((draft) => draft !== undefined)) {
          const sent = rewinding.map(async (draft, i) =>
            draft === undefined ? known[i]! : (await this.send(subjects[i]!, draft)).after,
          )
          known = await Promise.all(sent)
          return undefined
        }
        if (isSeen) return { allowed, at, views }
        known = await this.look(subjects)
        isSeen = true
        return undefined
      }
      const refused = await this.sendBoth(subjects, drafts)
      if (refused !== undefined) {
        known = known.map((before, i) => refused.get(i) ?? before)
        isContended ||= isSeen
        isSeen = known.every((_, i) => refused.has(i))
        return undefined
      }
      known = await this.look(subjects)
      const left = subjects.map(({ limits }, i) => viewsAfter(known[i]!, limits, views[i]!, at))
      return { allowed: true, at, views: left }
    })
  }

  /** The refusing items by index; undefined if all was applied. */
  private async sendBoth(
    subjects: readonly SubjectCosts[],
    drafts: readonly (Draft | undefined)[],
  ): Promise<Map<number, CachedSubject> | undefined> {
    const { client, table } = this.guards
    const sent = drafts.flatMap((draft, i) => (draft === undefined ? [] : [{ draft, i }]))
    const items = sent.map(({ draft, i }) => {
      draft.mark(this.marks.next())
      return { Update: draft.request(table, subjectKey(subjects[i]!)) }
    })
    const result = await client.transactWrite('limit.take', items)
    if (result.applied) return undefined
    return new Map(
      result.refusals.map(({ index, item }) => {
        const { i } = sent[index]!
        const known = readKnown(item)
        this.memory.set(subjects[i]!, known)
        return [i, known]
      }),
    )
  }

  private async look(subjects: readonly SubjectCosts[]): Promise<CachedSubject[]> {
    const known = await readSubjects(this.guards, subjects)
    subjects.forEach((subject, i) => {
      this.memory.set(subject, known[i]!)
    })
    return known
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.corrections.adjust(lease, adjustment, now)
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.corrections.giveBack(lease, now)
  }

  async reset(subject: Subject): Promise<boolean> {
    const { client, table } = this.guards
    const Key = subjectKey(subject)
    const expression = new Expression()
    // Every write of ours leaves its mark.
    const ConditionExpression = `${expression.absent('PK')} OR ${expression.exists('mark')}`
    const input = { TableName: table, Key, ConditionExpression, ...expression.parts() }
    const { applied, item } = await client.deleteItem('limit.reset', { ...input, ReturnValues: 'ALL_OLD' })
    if (!applied) throw new CatracaError('STORE_CORRUPT', `the item ${Key.PK.S} is of another program`)
    this.memory.forget(subject)
    await this.notices.publishFreed([subject])
    return statesOf(readKnown(item)).length > 0
  }

  watch(listener: (freed: Freed) => void): () => void {
    return this.notices.onFreed(listener)
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ swept: number; more: boolean }> {
    return { swept: 0, more: false }
  }
}
