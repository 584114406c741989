import { isCatracaError } from '../../core/errors.js'
import { Durations, NamedCounts, OTHER } from '../../core/figures.js'
import { isPromise, type MaybePromise } from '../../core/maybe-promise.js'
import { CHECK_REASONS, type CheckAnswer, type CheckReason } from './types.js'

/** Checks of a list, by what they answered. */
export interface CheckSums {
  allowed: number
  denied: number
}

/** How many lists without counters of their own are counted because somebody looks at them. */
const MAX_WATCHED = 50
const ADMITTING: ReadonlySet<string> = new Set<CheckReason>(['MEMBER', 'IN_WAVE', 'UNAVAILABLE'])

/** Results and durations of checks. */
export class CheckFigures {
  /** One per customer and list. */
  readonly reasons: NamedCounts<CheckReason>
  /** One per call, however many customers and lists it names. */
  readonly durations = new Durations()
  /**
   * Results that may be wrong, because the store did not answer: `allowed` without knowing, or as memory last knew.
   * `blocked`: calls that failed for the same reason.
   */
  readonly degraded = { allowed: 0, blocked: 0, last_known: 0 }
  allowed = 0
  denied = 0
  /** The one that was asked for last is at the end. */
  private readonly watched = new Map<string, CheckSums>()

  constructor(maxLists: number) {
    this.reasons = new NamedCounts(CHECK_REASONS, maxLists)
  }

  /** The sums of the first `maxLists` lists, since the process began to count. */
  *sums(): Generator<[string, CheckSums]> {
    for (const [allowlistId, counts] of this.reasons.entries()) {
      if (allowlistId !== OTHER) yield [allowlistId, sumsOf(counts)]
    }
  }

  /** The sums of lists that came later, since `watch` began to count them. */
  watchedSums(): Iterable<[string, CheckSums]> {
    return this.watched
  }

  /**
   * Counts a list from now on, if it came after `maxLists` others. `false`: it is counted already. Forgets the list that
   * nobody asked for the longest when too many are watched.
   */
  watch(allowlistId: string): boolean {
    const sums = this.watched.get(allowlistId)
    if (sums === undefined && this.reasons.hasOrTakes(allowlistId)) return false
    this.watched.delete(allowlistId)
    this.watched.set(allowlistId, sums ?? { allowed: 0, denied: 0 })
    if (this.watched.size > MAX_WATCHED) this.watched.delete(this.watched.keys().next().value!)
    return sums === undefined
  }

  /** Counts the result of `ask`. */
  check(ask: () => MaybePromise<CheckAnswer>): MaybePromise<CheckAnswer> {
    const startedMs = performance.now()
    let answer: MaybePromise<CheckAnswer>
    try {
      answer = ask()
    } catch (error) {
      throw this.failed(error)
    }
    if (!isPromise(answer)) return this.answered(answer, startedMs)
    return answer.then(
      (settled) => this.answered(settled, startedMs),
      (error) => {
        throw this.failed(error)
      },
    )
  }

  async checkMany(ask: () => Promise<CheckAnswer[]>): Promise<CheckAnswer[]> {
    const startedMs = performance.now()
    try {
      const answers = await ask()
      for (const answer of answers) this.count(answer)
      this.durations.add(performance.now() - startedMs)
      return answers
    } catch (error) {
      throw this.failed(error)
    }
  }

  private answered(answer: CheckAnswer, startedMs: number): CheckAnswer {
    this.count(answer)
    this.durations.add(performance.now() - startedMs)
    return answer
  }

  private count({ results }: CheckAnswer): void {
    for (let i = 0; i < results.length; i++) {
      const { allowlistId, reason, allowed, degraded } = results[i]!
      // Callers can make up any number of names. These must not take counters from real lists.
      const isMadeUp = reason === 'ALLOWLIST_NOT_FOUND' || reason === 'UNAVAILABLE'
      const counts = isMadeUp ? this.reasons.ofKnown(allowlistId) : this.reasons.of(allowlistId)
      counts[reason]++
      if (allowed) this.allowed++
      else this.denied++
      if (reason === 'UNAVAILABLE') this.degraded.allowed++
      else if (degraded) this.degraded.last_known++
      if (this.watched.size > 0) this.countWatched(allowlistId, allowed)
    }
  }

  private countWatched(allowlistId: string, allowed: boolean): void {
    const sums = this.watched.get(allowlistId)
    if (sums === undefined) return
    if (allowed) sums.allowed++
    else sums.denied++
  }

  private failed(error: unknown): unknown {
    if (isCatracaError(error, 'ENGINE_UNAVAILABLE')) this.degraded.blocked++
    return error
  }
}

function sumsOf(counts: Readonly<Record<CheckReason, number>>): CheckSums {
  const sums = { allowed: 0, denied: 0 }
  for (const reason of CHECK_REASONS) sums[ADMITTING.has(reason) ? 'allowed' : 'denied'] += counts[reason]
  return sums
}
