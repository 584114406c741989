import type { LimitCost, SubjectCosts, Taken } from '../../../guards/rate-limit/port.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'
import type { TakeRequest } from './counters.js'

/**
 * The messages between the serving thread and the counter thread. To keep them short, a limit is sent once and then
 * named by a number, and an answer is only numbers, in the order of the questions.
 */
export type SentLimit = Omit<LimitCost, 'cost'>
/** For each subject: its entity, its resource, and the number and cost of each limit. */
export type PackedSubject = [entity: string, resource: string, ...numbersAndCosts: number[]]
export type PackedQuestion = [now: number, ...subjects: PackedSubject[]]

export interface PackedTake {
  /** Limits that were not sent before. Their numbers follow the known ones; with `fresh`, numbers start again. */
  limits?: SentLimit[]
  fresh?: true
  questions: PackedQuestion[]
}

/** Whether it was allowed, then remaining, reset and retry times of each limit. */
export type PackedAnswer = number[]

/** Limits that a caller passes in a call have rules that never appear again, so the numbers are limited. */
const MAX_KNOWN = 10_000

export class QuestionPacker {
  private numbers = new WeakMap<Rule, Map<string, number>[]>()
  private known = 0

  pack(questions: readonly TakeRequest[]): PackedTake {
    const limits: SentLimit[] = []
    const fresh = this.known > MAX_KNOWN
    if (fresh) this.begin()
    const packed = questions.map(({ subjects, now }): PackedQuestion => {
      return [now, ...subjects.map((subject) => this.packSubject(subject, limits))]
    })
    return {
      questions: packed,
      ...(limits.length > 0 && { limits }),
      ...(fresh && { fresh }),
    }
  }

  /** A new thread does not know the limits that were sent to an earlier one. */
  begin(): void {
    this.numbers = new WeakMap()
    this.known = 0
  }

  private packSubject({ entity, resource, limits }: SubjectCosts, unsent: SentLimit[]): PackedSubject {
    const packed: PackedSubject = [entity, resource]
    for (const limit of limits) packed.push(this.numberOf(limit, unsent), limit.cost)
    return packed
  }

  private numberOf({ name, rule, shadow }: LimitCost, unsent: SentLimit[]): number {
    let byMode = this.numbers.get(rule)
    if (byMode === undefined) this.numbers.set(rule, (byMode = [new Map(), new Map()]))
    const byName = byMode[Number(shadow)]!
    let number = byName.get(name)
    if (number === undefined) {
      number = this.known++
      byName.set(name, number)
      unsent.push({ name, rule, shadow })
    }
    return number
  }
}

export class QuestionReader {
  private limits: SentLimit[] = []

  read({ limits, fresh, questions }: PackedTake): TakeRequest[] {
    if (fresh) this.limits = []
    if (limits !== undefined) for (const limit of limits) this.limits.push(limit)
    return questions.map(([now, ...subjects]) => ({
      now,
      subjects: subjects.map((one) => this.subject(one)),
    }))
  }

  private subject([entity, resource, ...numbers]: PackedSubject): SubjectCosts {
    const limits: LimitCost[] = []
    for (let i = 0; i < numbers.length; i += 2) {
      const { name, rule, shadow } = this.limits[numbers[i]!]!
      limits.push({ name, rule, shadow, cost: numbers[i + 1]! })
    }
    return { entity, resource, limits }
  }
}

export function packAnswer({ allowed, views }: Taken): PackedAnswer {
  const packed: PackedAnswer = [Number(allowed)]
  for (const ofSubject of views) {
    for (const { remaining, resetMs, retryAfterMs } of ofSubject)
      packed.push(remaining, resetMs, retryAfterMs)
  }
  return packed
}

export function readAnswer(packed: PackedAnswer, { subjects, now }: TakeRequest): Taken {
  let next = 1
  const views = subjects.map(({ limits }) =>
    limits.map(() => {
      const view = { remaining: packed[next]!, resetMs: packed[next + 1]!, retryAfterMs: packed[next + 2]! }
      next += 3
      return view
    }),
  )
  return { allowed: packed[0] === 1, at: now, views }
}
