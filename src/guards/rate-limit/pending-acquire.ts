import { aborted } from '../../core/abort.js'
import { type Deadlines, DeadlineWaiter, isUnavailable } from '../../core/deadlines.js'
import type { Wanted } from './answers.js'
import type { Taken } from './port.js'
import type { AcquireAnswer, OnUnavailable } from './types.js'

/** What the engine is asked, and what holds when it does not answer. */
export interface AcquireCall {
  wanted: readonly Wanted[]
  signal: AbortSignal | undefined
  /** Which of what is known to be used up was known before. Absent where limits of the call's own denied. */
  since: number | undefined
  onUnavailable: OnUnavailable
}

export interface AcquireAnswers {
  answer(asked: AcquireCall, taken: Taken): AcquireAnswer
  degraded(error: unknown, onUnavailable: OnUnavailable, resource: string): AcquireAnswer
  returnAll(wanted: readonly Wanted[], taken: Taken): Promise<void>
}

/**
 * One acquire while the engine decides. An object and not a chain of promises, which would be most of the memory that
 * an acquire takes.
 */
export class PendingAcquire extends DeadlineWaiter {
  constructor(
    private readonly answers: AcquireAnswers,
    deadlines: Deadlines,
    private readonly asked: AcquireCall,
    private readonly deciding: Promise<Taken>,
    private readonly resolve: (answer: AcquireAnswer | Promise<AcquireAnswer>) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    super(deadlines)
  }

  onTaken(taken: Taken): void {
    if (this.isSettled) return
    this.deadlines.end(this)
    const { answers, asked } = this
    if (asked.signal?.aborted) {
      const gone = aborted(asked.signal)
      const done = () => this.reject(gone)
      // Who has gone hears of nothing else, should it fail.
      answers.returnAll(asked.wanted, taken).then(done, done)
      return
    }
    this.resolve(answers.answer(asked, taken))
  }

  onFailed(error: unknown): void {
    if (this.isSettled) return
    this.deadlines.end(this)
    this.onLate(error)
  }

  override onLate(error: unknown): void {
    const { answers, asked, deciding } = this
    // A caller who is turned away has taken nothing: should the engine decide after all, it is given back.
    if (asked.onUnavailable === 'block') {
      deciding.then((late) => answers.returnAll(asked.wanted, late)).catch(() => {})
    }
    try {
      if (!isUnavailable(error)) throw error
      this.resolve(answers.degraded(error, asked.onUnavailable, asked.wanted[0]!.resource))
    } catch (blocked) {
      this.reject(blocked)
    }
  }
}
