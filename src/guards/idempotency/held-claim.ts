import { CatracaError } from '../../core/errors.js'
import type { Heartbeat } from './heartbeat.js'
import { MAX_ERROR_CHARACTERS } from './options.js'
import type { OwnerOutcome } from './port.js'
import { writtenAnswer } from './responses.js'
import type { RecordKey, WorkContext } from './types.js'
import type { Verbs } from './verbs.js'

/** A claim that is renewed until it is ended. It is ended once. */
export abstract class HeldClaim {
  private isEnded = false

  constructor(
    readonly attempt: number,
    private readonly token: string,
    private readonly heartbeat: Heartbeat,
  ) {}

  get context(): WorkContext {
    const { attempt, token, heartbeat } = this
    return {
      attempt,
      token,
      get signal() {
        return heartbeat.signal
      },
    }
  }

  /**
   * Stores the response. Throws IDEMPOTENCY_CLAIM_LOST if another owner has the record by now, and UNKNOWN_OUTCOME if
   * the engine does not acknowledge: then the record is completed, or stays in progress until its lease expires.
   */
  async complete(value: unknown): Promise<void> {
    if (this.isEnded) return
    this.isEnded = true
    this.heartbeat.workIsDone()
    try {
      await this.record(value)
    } finally {
      this.heartbeat.stop()
    }
  }

  async fail(error: unknown): Promise<void> {
    if (this.end()) await this.recordFailure(errorText(error))
  }

  /** Nothing was executed, so nothing is recorded. */
  async release(): Promise<void> {
    if (this.end()) await this.giveBack()
  }

  protected abstract record(value: unknown): Promise<void>
  protected abstract recordFailure(error: string | undefined): Promise<unknown>
  protected abstract giveBack(): Promise<unknown>

  private end(): boolean {
    if (this.isEnded) return false
    this.isEnded = true
    this.heartbeat.stop()
    return true
  }
}

export interface ClaimFacts {
  key: RecordKey
  token: string
  owner: string
  attempt: number
  maxResponseBytes: number
}

/** A claim in an engine of this process. */
export class EngineClaim extends HeldClaim {
  constructor(
    private readonly verbs: Verbs,
    private readonly facts: ClaimFacts,
    heartbeat: Heartbeat,
  ) {
    super(facts.attempt, facts.token, heartbeat)
  }

  protected async record(value: unknown): Promise<void> {
    const { key, owner, maxResponseBytes } = this.facts
    const written = writtenAnswer(value, maxResponseBytes)
    const { completion, failure } = written instanceof Promise ? await written : written
    const outcome = await this.verbs.complete(key, owner, completion)
    // The work itself ended the claim with its token and another response, which stays.
    if (outcome !== 'differs') assertOwned(outcome)
    if (failure !== undefined) throw failure
  }

  protected recordFailure(error: string | undefined): Promise<unknown> {
    return this.verbs.fail(this.facts.key, this.facts.owner, error)
  }

  protected giveBack(): Promise<unknown> {
    return this.verbs.release(this.facts.key, this.facts.owner)
  }
}

/** For work that runs although the engine did not answer: there is no claim to end. */
export function unguarded(): Held {
  const nothing = async (): Promise<void> => {}
  return {
    attempt: 0,
    context: { attempt: 0, signal: new AbortController().signal, degraded: true },
    ...{ complete: nothing, fail: nothing, release: nothing },
  }
}

export type Held = Pick<HeldClaim, 'attempt' | 'context' | 'complete' | 'fail' | 'release'>

export function assertOwned(outcome: OwnerOutcome): void {
  if (outcome === 'lost')
    throw new CatracaError('IDEMPOTENCY_CLAIM_LOST', 'the token no longer owns this record')
  if (outcome === 'differs')
    throw new CatracaError(
      'IDEMPOTENCY_ANSWER_DIFFERS',
      'this request was completed before with a different response',
    )
}

function errorText(error: unknown): string | undefined {
  if (error === undefined) return undefined
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, MAX_ERROR_CHARACTERS)
}
