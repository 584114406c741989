import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.js'
import { Deadlines, isUnavailable } from '../../core/deadlines.js'
import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { Claim, ClaimOutcome, Completion, IdempotencyStore, OwnerOutcome, StoredRecord } from './port.js'
import type { RecordKey } from './types.js'

const FIRST_PAUSE_MS = 25

/** How claims ended. */
export interface EndCounts {
  completed: number
  failed: number
  lost: number
}

/** The verbs of the engine, each with a timeout. */
export class Verbs {
  private readonly deadlines: Deadlines
  readonly ends: EndCounts = { completed: 0, failed: 0, lost: 0 }
  /** How far the engine's clock is ahead of this one, by its last answer. */
  private skewMs = 0

  constructor(
    private readonly store: IdempotencyStore,
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {
    this.deadlines = new Deadlines(timeoutMs)
  }

  get maxResponseBytes(): number {
    return this.store.maxResponseBytes
  }

  /**
   * `givesBack`: the caller gets an error if the engine does not answer. If the engine made the claim after all,
   * release it as soon as that is known.
   */
  claim(claim: Claim, givesBack: boolean): Promise<ClaimOutcome> {
    const asked = this.store.claim(claim, this.clock.now())
    return this.deadlines.within(asked, undefined, (error) => {
      if (!isUnavailable(error)) return error
      if (givesBack) this.giveBackLate(claim, asked)
      if (!isCatracaError(error, 'UNKNOWN_OUTCOME')) return error
      return new CatracaError('ENGINE_UNAVAILABLE', error.message, { cause: error })
    })
  }

  /** The engine returned its time. */
  setEngineTime(at: number): void {
    this.skewMs = at - this.clock.now()
  }

  private giveBackLate({ key, owner }: Claim, asked: Promise<ClaimOutcome>): void {
    const giveBack = async (): Promise<void> => {
      if ((await asked).outcome === 'claimed') await this.release(key, owner)
    }
    // If this fails, the claim ends with its lease.
    giveBack().catch(() => {})
  }

  /** Retried until the timeout: executed work should be recorded, and completing twice has the same effect as once. */
  complete(key: RecordKey, owner: string, completion: Completion): Promise<OwnerOutcome> {
    const until = performance.now() + this.timeoutMs
    const ask = (): Promise<OwnerOutcome> => this.store.complete(key, owner, completion, this.clock.now())
    return this.ended(
      ask().catch((error) => retried(ask, until, error)),
      'completed',
    )
  }

  fail(key: RecordKey, owner: string, error: string | undefined): Promise<OwnerOutcome> {
    return this.ended(this.store.fail(key, owner, error, this.clock.now()), 'failed')
  }

  release(key: RecordKey, owner: string): Promise<OwnerOutcome> {
    return this.ended(this.store.release(key, owner, this.clock.now()), undefined)
  }

  extend(key: RecordKey, owner: string, leaseMs: number): Promise<OwnerOutcome> {
    return this.settled(this.store.extend(key, owner, leaseMs, this.clock.now()))
  }

  read(key: RecordKey): Promise<StoredRecord | undefined> {
    return this.deadlines.within(this.store.read(key, this.clock.now()))
  }

  remove(key: RecordKey): Promise<boolean> {
    return this.settled(this.store.remove(key))
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.store.sweep(now)
  }

  /** Whether the record has no owner any more, by the engine's clock. */
  isOver(record: StoredRecord | undefined): boolean {
    if (record?.status !== 'IN_PROGRESS') return true
    return (record.leaseUntil ?? 0) <= this.clock.now() + this.skewMs
  }

  private ended(work: Promise<OwnerOutcome>, as: 'completed' | 'failed' | undefined): Promise<OwnerOutcome> {
    return this.settled(work).then((outcome) => {
      if (outcome === 'lost') this.ends.lost++
      else if (as !== undefined) this.ends[as]++
      return outcome
    })
  }

  /** A change that was not acknowledged in time may have been made. */
  private settled<T>(work: Promise<T>): Promise<T> {
    return this.deadlines.within(work, undefined, asUnknown)
  }
}

function asUnknown(error: unknown): unknown {
  if (!isCatracaError(error, 'ENGINE_UNAVAILABLE')) return error
  return new CatracaError('UNKNOWN_OUTCOME', error.message, { cause: error })
}

/** Repeats a call that the engine did not answer. */
export async function retried<T>(ask: () => Promise<T>, until: number, first: unknown): Promise<T> {
  let failure = first
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    if (!isUnavailable(failure) || performance.now() + pauseMs >= until) throw failure
    await sleep(pauseMs)
    try {
      return await ask()
    } catch (error) {
      failure = error
    }
  }
}
