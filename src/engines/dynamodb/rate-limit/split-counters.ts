import { createHash } from 'node:crypto'
import { CatracaError, invalid } from '../../../core/errors.js'
import type { LimitView } from '../../../guards/rate-limit/algorithms/algorithm.js'
import { partOf } from '../../../guards/rate-limit/parts.js'
import type {
  LeaseOutcome,
  LeaseUse,
  LimitCost,
  LimitStore,
  SubjectCosts,
  Taken,
} from '../../../guards/rate-limit/port.js'
import { MAX_UNITS, type Rule } from '../../../guards/rate-limit/rule.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import { type LimitSplit, MAX_PARTS } from '../defaults.js'

/**
 * Splits the limits of chosen subjects over several items, because one item takes about 1,000 writes a second. Each
 * part has its share of the capacity and of the refill, so together they never admit more than the rule. A call takes
 * from a random part, and from another one if that denies: it is denied only when every part has denied it. So a
 * cost of 1 finds every token. A larger cost needs that many tokens in one part.
 */
export class SplitCounters implements LimitStore {
  private readonly splits = new Map<string, number>()

  constructor(
    private readonly counters: LimitStore,
    splits: readonly LimitSplit[],
    private readonly random: () => number = Math.random,
  ) {
    for (const { resource, entity, parts } of splits) {
      if (!Number.isInteger(parts) || parts < 1 || parts > MAX_PARTS) {
        const message = `dynamodb.splitLimits: ${resource} must have 1 to ${MAX_PARTS} parts`
        throw new CatracaError('CONFIG_INVALID', message)
      }
      this.splits.set(nameOf(resource, entity), parts)
    }
  }

  async take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    const counts = subjects.map((subject) => this.partsOf(subject))
    if (counts.every((count) => count === 1)) return this.counters.take(subjects, now)
    if (subjects.every(({ limits }) => limits.every(({ cost }) => cost === 0))) {
      return this.look(subjects, counts, now)
    }
    return this.takeParts(
      subjects.map((subject, i) => new Candidates(subject, counts[i]!, this.random)),
      now,
    )
  }

  /** All limits of all subjects or none: whoever denies is asked in another part, until it has no further one. */
  private async takeParts(candidates: readonly Candidates[], now: number): Promise<Taken> {
    for (;;) {
      const asked = candidates.map((candidate) => candidate.current)
      const taken = await this.counters.take(asked, now)
      if (taken.allowed) {
        const views = candidates.map((candidate, i) => candidate.estimate(taken.views[i]!))
        return { ...taken, views, from: asked }
      }
      const denying = candidates.filter((candidate, i) => candidate.isDenied(taken.views[i]!))
      candidates.forEach((candidate, i) => {
        candidate.note(taken.views[i]!)
      })
      if (denying.every((candidate) => candidate.isLast)) {
        return { ...taken, views: candidates.map((candidate) => candidate.denial()) }
      }
      for (const candidate of denying) candidate.next()
    }
  }

  /** The sum over all parts. */
  private async look(
    subjects: readonly SubjectCosts[],
    counts: readonly number[],
    now: number,
  ): Promise<Taken> {
    let at = now
    const looks = subjects.map(async (subject, i) => {
      const parts = Array.from({ length: counts[i]! }, (_, part) => part)
      const found = await Promise.all(
        parts.map(async (part) => {
          const taken = await this.counters.take([partFor(subject, part, counts[i]!)], now)
          at = taken.at
          return taken.views[0]!
        }),
      )
      return sumOf(found)
    })
    return { allowed: true, views: await Promise.all(looks), at }
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.counters.adjust(this.inParts(lease), adjustment, now)
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.counters.giveBack(this.inParts(lease), now)
  }

  /**
   * A lease names the part that it took from. One that was taken without the store names none: the part follows from
   * its id, so that a call that is repeated changes the same one.
   */
  private inParts(lease: LeaseUse): LeaseUse {
    const subjects = lease.subjects.map((subject) => {
      const count = this.partsOf(subject)
      if (count === 1) return subject
      const part = createHash('sha1').update(lease.id).digest().readUInt32BE() % count
      const limits = subject.limits.map((limit) => ({ ...limit, rule: shareOf(limit.rule, part, count) }))
      return { ...partOf(subject, part), limits }
    })
    return { ...lease, subjects }
  }

  list(...args: Parameters<LimitStore['list']>): ReturnType<LimitStore['list']> {
    return this.counters.list(...args)
  }

  async reset(subject: Subject): Promise<boolean> {
    const count = this.partsOf(subject)
    if (count === 1) return this.counters.reset(subject)
    const parts = Array.from({ length: count }, (_, part) => this.counters.reset(partOf(subject, part)))
    // What was counted before the split.
    return (await Promise.all([this.counters.reset(subject), ...parts])).includes(true)
  }

  watch(...args: Parameters<LimitStore['watch']>): () => void {
    return this.counters.watch(...args)
  }

  sweep(now: number): ReturnType<LimitStore['sweep']> {
    return this.counters.sweep(now)
  }

  private partsOf({ entity, resource }: Subject): number {
    return this.splits.get(nameOf(resource, entity)) ?? this.splits.get(nameOf(resource, undefined)) ?? 1
  }
}

/** No identifier contains a blank. */
const nameOf = (resource: string, entity: string | undefined): string => `${resource} ${entity ?? ''}`

/** The parts that a call may take from, in random order, and what those that denied have said. */
class Candidates {
  private readonly order: SubjectCosts[]
  private readonly denials: (readonly LimitView[])[] = []
  private at = 0

  constructor(
    private readonly subject: SubjectCosts,
    private readonly count: number,
    random: () => number,
  ) {
    const parts = Array.from({ length: count }, (_, part) => partFor(subject, part, count))
    const holding = parts.filter(({ limits }) => limits.every(({ rule, cost }) => cost <= rule.capacity))
    if (holding.length === 0) throw tooLarge(subject, count)
    const first = Math.floor(random() * holding.length)
    this.order = [...holding.slice(first), ...holding.slice(0, first)]
  }

  get current(): SubjectCosts {
    return this.order[this.at]!
  }

  get isLast(): boolean {
    return this.at === this.order.length - 1
  }

  next(): void {
    if (!this.isLast) this.at++
  }

  isDenied(views: readonly LimitView[]): boolean {
    return views.some(({ retryAfterMs }, i) => retryAfterMs > 0 && !this.subject.limits[i]!.shadow)
  }

  note(views: readonly LimitView[]): void {
    this.denials[this.at] = views
  }

  /** What is left in this part stands for the others, whose items were not read. */
  estimate(views: readonly LimitView[]): LimitView[] {
    return views.map((view, i) => {
      const { capacity } = this.current.limits[i]!.rule
      const whole = this.subject.limits[i]!.rule.capacity
      return { ...view, remaining: capacity === 0 ? 0 : Math.floor((view.remaining * whole) / capacity) }
    })
  }

  /**
   * A limit denies if every part said so. Where one part lacks one limit and one part another, the part that may be
   * asked again first speaks for all.
   */
  denial(): LimitView[] {
    if (this.count === 1) return [...this.denials[0]!]
    const views = sumOf(this.denials)
    const retries = this.subject.limits.map((_, i) =>
      Math.min(...this.denials.map((said) => said[i]!.retryAfterMs)),
    )
    const told = views.map((view, i) => ({ ...view, retryAfterMs: retries[i]! }))
    const isTold = this.isDenied(told) || !this.denials.some((said) => this.isDenied(said))
    if (isTold) return told
    const longest = (said: readonly LimitView[]) => Math.max(...said.map(({ retryAfterMs }) => retryAfterMs))
    const first = this.denials.reduce((best, said) => (longest(said) < longest(best) ? said : best))
    return views.map((view, i) => ({ ...view, retryAfterMs: first[i]!.retryAfterMs }))
  }
}

function sumOf(found: readonly (readonly LimitView[])[]): LimitView[] {
  return found[0]!.map((_, i) => ({
    remaining: found.reduce((sum, views) => sum + views[i]!.remaining, 0),
    resetMs: Math.max(...found.map((views) => views[i]!.resetMs)),
    retryAfterMs: 0,
  }))
}

function partFor(subject: SubjectCosts, part: number, count: number): SubjectCosts {
  if (count === 1) return subject
  const limits = subject.limits.map(
    (limit): LimitCost => ({ ...limit, rule: shareOf(limit.rule, part, count) }),
  )
  return { ...partOf(subject, part), limits }
}

/** The shares of all parts add up to the rule: capacities to the token, and refills exactly. */
function shareOf(rule: Rule, part: number, count: number): Rule {
  const capacity = Math.floor(rule.capacity / count) + (part < rule.capacity % count ? 1 : 0)
  if (rule.algorithm !== 'token-bucket') return { ...rule, capacity }
  const unitsPerToken = rule.unitsPerToken * count
  if (capacity * unitsPerToken > MAX_UNITS / 2) {
    throw invalid('limits', `cannot be split over ${count} parts exactly: take rounder amounts`)
  }
  return { ...rule, capacity, unitsPerToken }
}

function tooLarge({ limits }: SubjectCosts, count: number): Error {
  const { name, rule } =
    limits.find(({ rule, cost }) => cost > Math.ceil(rule.capacity / count)) ?? limits[0]!
  const most = Math.ceil(rule.capacity / count)
  return invalid(
    `consume.${name}`,
    `is more than the ${most} that one of the ${count} parts of the limit can ever hold`,
  )
}
