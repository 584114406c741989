import { isCatracaError } from '../../core/errors.js'
import { Durations, NamedCounts } from '../../core/figures.js'
import { isPromise, type MaybePromise } from '../../core/maybe-promise.js'
import { CHECK_REASONS, type CheckAnswer, type CheckReason } from './types.js'

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

  constructor(maxLists: number) {
    this.reasons = new NamedCounts(CHECK_REASONS, maxLists)
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
    }
  }

  private failed(error: unknown): unknown {
    if (isCatracaError(error, 'ENGINE_UNAVAILABLE')) this.degraded.blocked++
    return error
  }
}
