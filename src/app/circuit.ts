import { CatracaError } from '../core/errors.js'
import { isPromise, type MaybePromise } from '../core/maybe-promise.js'
import { later } from '../core/timers.js'
import { outcomeOf } from './engine-calls.js'

/** A failure that took less than this cost its caller nothing, so calls that fail like this may go on. */
const SLOW_MS = 100
/** Slow failures in a row, without a success in between, after which no further call waits. */
const FAILURES_TO_OPEN = 3
/** Pause between probes. It doubles each time that the circuit opens again soon after it closed. */
const FIRST_REST_MS = 500
const LONGEST_REST_MS = 10_000
const SOON_MS = 10_000

type CircuitState = 'closed' | 'open' | 'half-open'

export interface CircuitParts {
  readonly engine: string
  readonly capability: string
  readonly kind: 'read' | 'write'
  /** A read that shows whether the store answers. It changes nothing. */
  probe(): MaybePromise<unknown>
  report(message: string, error: unknown): void
  /** While this circuit is open, calls of this one are refused too: a store that answers no read takes no write. */
  readonly behind?: Circuit | undefined
}

/**
 * Spares callers the wait for a store that does not answer. After some calls in a row waited in vain, further calls
 * fail at once, and a probe asks in the background. When it is answered, one call at a time is let through until one
 * succeeds.
 */
export class Circuit {
  private now: CircuitState = 'closed'
  private slowFailures = 0
  private isTrying = false
  private restMs = FIRST_REST_MS
  private closedAtMs = Number.NEGATIVE_INFINITY
  private timer: NodeJS.Timeout | undefined
  private refusal: CatracaError | undefined
  private ended = false
  /** Calls that failed without asking the store. */
  refused = 0

  constructor(readonly parts: CircuitParts) {}

  get state(): CircuitState {
    return this.now
  }

  /** Why a call is not made now. Undefined: make it, with `run`. */
  refuse(): CatracaError | undefined {
    const { behind } = this.parts
    if (this.now === 'closed')
      return behind !== undefined && behind.now !== 'closed' ? behind.refuse() : undefined
    if (this.now === 'half-open' && !this.isTrying) return undefined
    this.refused++
    return this.refusal
  }

  run<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    const isTrial = this.now === 'half-open'
    const startedMs = performance.now()
    const answer = call()
    if (!isPromise(answer)) return answer
    if (isTrial) this.isTrying = true
    answer.then(this.answered, (error) => this.failed(error, startedMs))
    return answer
  }

  /** The store answered a call. */
  readonly answered = (): void => {
    this.slowFailures = 0
    if (this.now !== 'closed') this.close()
  }

  private failed(error: unknown, startedMs: number): void {
    const wasTrial = this.isTrying
    this.isTrying = false
    const outcome = outcomeOf(error)
    if (outcome === 'ok') this.answered()
    if (outcome === 'ok' || outcome === 'error') return
    const isSlow = performance.now() - startedMs >= SLOW_MS
    if (isSlow) this.slowFailures++
    const fails = this.now === 'closed' ? this.slowFailures >= FAILURES_TO_OPEN : wasTrial && isSlow
    if (fails && this.now !== 'open') this.open(error)
  }

  private open(error: unknown): void {
    if (this.ended) return
    const { engine, capability, kind, report } = this.parts
    const wasClosed = this.now === 'closed'
    const isSoon = !wasClosed || performance.now() - this.closedAtMs < SOON_MS
    this.restMs = isSoon ? Math.min(LONGEST_REST_MS, 2 * this.restMs) : FIRST_REST_MS
    this.now = 'open'
    const message = `${engine} did not answer ${capability} lately, and is not asked until it does`
    this.refusal = new CatracaError('ENGINE_UNAVAILABLE', message, { cause: error })
    if (wasClosed) report(`${engine} does not answer ${capability} (${kind}s): calls now fail at once`, error)
    this.probeLater()
  }

  private close(): void {
    const { engine, capability, kind, report } = this.parts
    clearTimeout(this.timer)
    this.now = 'closed'
    this.isTrying = false
    this.closedAtMs = performance.now()
    report(`${engine} answers ${capability} (${kind}s) again`, undefined)
  }

  private probeLater(): void {
    clearTimeout(this.timer)
    this.timer = later(() => this.probe(), this.restMs)
    this.timer.unref()
  }

  private async probe(): Promise<void> {
    try {
      await this.parts.probe()
    } catch (error) {
      const outcome = outcomeOf(error)
      if (outcome !== 'ok' && outcome !== 'error') {
        if (this.now === 'open' && !this.ended) this.probeLater()
        return
      }
    }
    if (this.now !== 'open' || this.ended) return
    // A probe is a read. For writes it only shows that trying is worth while.
    if (this.parts.kind === 'read') this.answered()
    else this.now = 'half-open'
  }

  stop(): void {
    this.ended = true
    clearTimeout(this.timer)
  }
}
