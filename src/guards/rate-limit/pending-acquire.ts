import { aborted } from '../../core/abort.js'
import { type Deadlines, DeadlineWaiter, isUnavailable } from '../../core/deadlines.js'
import type { AcquireAnswers } from './acquire-answers.js'
import type { AcquireCall } from './answers.js'
import type { Taken } from './port.js'
import type { AcquireAnswer } from './types.js'

/**
 * One acquire while the engine decides. An object rather than a chain of promises, which would be most of the
 * memory of an acquire.
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
    if (this.hasEnded) return
    this.deadlines.end(this)
    const { answers, asked } = this
    if (asked.signal?.aborted) {
      const gone = aborted(asked.signal)
      const done = () => this.reject(gone)
      // The caller gets only the abort reason, even if giving back fails.
      answers.returnAll(asked.wanted, taken).then(done, done)
      return
    }
    this.resolve(answers.decided(asked, taken))
  }

  onFailed(error: unknown): void {
    if (this.hasEnded) return
    this.deadlines.end(this)
    this.onLate(error)
  }

  override onLate(error: unknown): void {
    const { answers, asked, deciding } = this
    // The caller gets an error or a local decision, so if the engine admits later, the cost is given back.
    if (asked.onUnavailable !== 'allow') {
      deciding.then((late) => answers.returnAll(asked.wanted, late)).catch(() => {})
    }
    try {
      if (!isUnavailable(error)) throw error
      this.resolve(answers.degraded(error, { ...asked, resource: asked.wanted[0]!.resource }))
    } catch (blocked) {
      this.reject(blocked)
    }
  }
}
