import type { LimitCost, SubjectCosts, Taken } from '../../../guards/rate-limit/port.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'
import type { TakeRequest } from './counters.js'

/**
 * The messages between the serving thread and the counter thread. A limit and the names of a subject are sent once
 * and then named by a number, so a batch of takes, and its answers, are only numbers.
 */
type SentLimit = Omit<LimitCost, 'cost'>

export interface PackedTakes {
  /** For each take: time, count of subjects. For each subject: number, count of limits. For each limit: number, cost. */
  numbers: Float64Array
  /** Entity and resource of the subjects that were not sent before. Their numbers follow the known ones. */
  subjects: string[] | undefined
  /** The same for limits. */
  limits: SentLimit[] | undefined
  /** All numbers start again. */
  fresh: boolean
}

/** For each take: whether it was allowed, then remaining, reset and retry times of each limit. */
export type PackedAnswers = Float64Array

/** Callers choose the names of subjects and, with limits of a call, the rules. So the numbers are limited. */
const MAX_KNOWN = 50_000

export class QuestionPacker {
  private limits = new WeakMap<Rule, Map<string, number>[]>()
  private limitCount = 0
  private subjects = new Map<string, Map<string, number>>()
  private subjectCount = 0
  private unsentLimits: SentLimit[] = []
  private unsentSubjects: string[] = []

  pack(takes: readonly TakeRequest[]): PackedTakes {
    const fresh = this.limitCount > MAX_KNOWN || this.subjectCount > MAX_KNOWN
    if (fresh) this.begin()
    const numbers: number[] = []
    for (const { subjects, now } of takes) {
      numbers.push(now, subjects.length)
      for (const subject of subjects) this.packSubject(subject, numbers)
    }
    const { unsentLimits, unsentSubjects } = this
    if (unsentLimits.length > 0) this.unsentLimits = []
    if (unsentSubjects.length > 0) this.unsentSubjects = []
    return {
      numbers: new Float64Array(numbers),
      subjects: unsentSubjects.length > 0 ? unsentSubjects : undefined,
      limits: unsentLimits.length > 0 ? unsentLimits : undefined,
      fresh,
    }
  }

  /** A new thread does not know what was sent to an earlier one. */
  begin(): void {
    this.limits = new WeakMap()
    this.subjects = new Map()
    this.limitCount = this.subjectCount = 0
    this.unsentLimits = []
    this.unsentSubjects = []
  }

  private packSubject({ entity, resource, limits }: SubjectCosts, numbers: number[]): void {
    numbers.push(this.subjectNumber(entity, resource), limits.length)
    for (const limit of limits) numbers.push(this.limitNumber(limit), limit.cost)
  }

  private subjectNumber(entity: string, resource: string): number {
    let ofResource = this.subjects.get(resource)
    if (ofResource === undefined) this.subjects.set(resource, (ofResource = new Map()))
    let number = ofResource.get(entity)
    if (number === undefined) {
      number = this.subjectCount++
      ofResource.set(entity, number)
      this.unsentSubjects.push(entity, resource)
    }
    return number
  }

  private limitNumber({ name, rule, shadow }: LimitCost): number {
    let byMode = this.limits.get(rule)
    if (byMode === undefined) this.limits.set(rule, (byMode = [new Map(), new Map()]))
    const byName = byMode[Number(shadow)]!
    let number = byName.get(name)
    if (number === undefined) {
      number = this.limitCount++
      byName.set(name, number)
      this.unsentLimits.push({ name, rule, shadow })
    }
    return number
  }
}

interface KnownSubject {
  entity: string
  resource: string
  /** What it asked the last time. Most subjects ask the same each time. */
  last: SubjectCosts | undefined
  lastNumbers: readonly number[]
}

export class QuestionReader {
  private limits: SentLimit[] = []
  private subjects: KnownSubject[] = []

  read({ numbers, subjects, limits, fresh }: PackedTakes): TakeRequest[] {
    if (fresh) {
      this.limits = []
      this.subjects = []
    }
    for (const limit of limits ?? []) this.limits.push(limit)
    for (let i = 0; subjects !== undefined && i < subjects.length; i += 2) {
      const [entity, resource] = [subjects[i]!, subjects[i + 1]!]
      this.subjects.push({ entity, resource, last: undefined, lastNumbers: [] })
    }
    const takes: TakeRequest[] = []
    for (let at = 0; at < numbers.length; ) {
      const now = numbers[at++]!
      const asked: SubjectCosts[] = []
      for (let left = numbers[at++]!; left > 0; left--) {
        const subject = this.subjects[numbers[at]!]!
        const end = at + 2 + 2 * numbers[at + 1]!
        asked.push(this.costsOf(subject, numbers, at + 2, end))
        at = end
      }
      takes.push({ subjects: asked, now })
    }
    return takes
  }

  private costsOf(subject: KnownSubject, numbers: Float64Array, from: number, end: number): SubjectCosts {
    const { entity, resource, last, lastNumbers } = subject
    if (last !== undefined && isSame(lastNumbers, numbers, from, end)) return last
    const limits: LimitCost[] = []
    for (let i = from; i < end; i += 2) {
      const { name, rule, shadow } = this.limits[numbers[i]!]!
      limits.push({ name, rule, shadow, cost: numbers[i + 1]! })
    }
    subject.lastNumbers = Array.from(numbers.subarray(from, end))
    subject.last = { entity, resource, limits }
    return subject.last
  }
}

function isSame(known: readonly number[], numbers: Float64Array, from: number, end: number): boolean {
  if (known.length !== end - from) return false
  for (let i = 0; i < known.length; i++) if (known[i] !== numbers[from + i]) return false
  return true
}

export function packAnswers(answers: readonly Taken[]): PackedAnswers {
  const numbers: number[] = []
  for (const { allowed, views } of answers) {
    numbers.push(Number(allowed))
    for (const ofSubject of views) {
      for (const { remaining, resetMs, retryAfterMs } of ofSubject)
        numbers.push(remaining, resetMs, retryAfterMs)
    }
  }
  return new Float64Array(numbers)
}

/** Reads the answers in the order of the takes. */
export class AnswerReader {
  private at = 0

  constructor(private readonly numbers: PackedAnswers) {}

  next({ subjects, now }: TakeRequest): Taken {
    const allowed = this.number() === 1
    const views = subjects.map(({ limits }) => limits.map(() => this.view()))
    return { allowed, at: now, views }
  }

  private view() {
    return { remaining: this.number(), resetMs: this.number(), retryAfterMs: this.number() }
  }

  private number(): number {
    return this.numbers[this.at++]!
  }
}
