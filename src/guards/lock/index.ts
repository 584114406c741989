import { type Clock, isoTime } from '../../core/clock.js'
import { Deadlines, isUnavailable } from '../../core/deadlines.js'
import { Durations } from '../../core/figures.js'
import { identifier } from '../../core/identifiers.js'
import { type ListedPage, listedPage, minimumAge, parseListing } from '../../core/listing.js'
import { systemTiming, type Timing } from '../../core/timing.js'
import { acquired, closed, unavailable } from './answers.js'
import type { LocksApi } from './api.js'
import { checkTtl, checkWait, type LockOptions, validitySince } from './options.js'
import type { Attempt, ListedLock, LockStore } from './port.js'
import { checkToken, newToken, ownerOf } from './token.js'
import type {
  AcquireOptions,
  Extended,
  HeldByOther,
  HeldLock,
  HeldLockState,
  HeldLocks,
  LockAnswer,
  LockQuery,
  LockState,
  WithLockOptions,
} from './types.js'
import { WaitQueues } from './wait-queues.js'
import { type Holding, holdAll, holdWhile } from './with-lock.js'

export interface LockStats {
  acquired: number
  /** Acquires that found the lock held by another caller. */
  held: number
  released: number
  /** Extensions and releases by callers that no longer held the lock. */
  lost: number
}

/** Acquires that failed. Each counts once, however often the engine was called. */
export interface AcquireFailures {
  /** Another caller held the lock, and this one did not want to wait. */
  held: number
  timedOut: number
}

interface LockDependencies {
  store: LockStore
  clock: Clock
  options: LockOptions
  report: (message: string, error: unknown) => void
  timing?: Timing
  /** In [0, 1). */
  random?: () => number
}

interface Wait {
  attempt: Attempt
  token: string
  untilMs: number
  signal: AbortSignal | undefined
}

/** Locks: one holder at a time per name, with fences that distinguish a newer holder from an older one. */
export class Locks implements LocksApi {
  private readonly store: LockStore
  private readonly clock: Clock
  private readonly timing: Timing
  private readonly random: () => number
  private readonly deadlines: Deadlines
  private readonly turns: WaitQueues
  private readonly counts: LockStats = { acquired: 0, held: 0, released: 0, lost: 0 }
  readonly failures: AcquireFailures = { held: 0, timedOut: 0 }
  /** How long acquires with a wait took. */
  readonly waits = new Durations()
  private isClosed = false

  constructor(private readonly dependencies: LockDependencies) {
    const { store, clock, options, timing = systemTiming, random = Math.random } = dependencies
    this.store = store
    this.clock = clock
    this.timing = timing
    this.random = random
    this.deadlines = new Deadlines(options.timeoutMs)
    this.turns = new WaitQueues((name, onFree) => store.watch(name, onFree), timing, random)
  }

  acquire(name: string, options: AcquireOptions = {}): Promise<LockAnswer> {
    try {
      return this.begin(name, options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Not `async`: most calls go straight to the store, and every `async` layer would cost another promise. */
  private begin(name: string, options: AcquireOptions): Promise<LockAnswer> {
    const id = identifier('name', name)
    const ttlMs = checkTtl(options.ttlMs)
    const waitMs = checkWait(options.waitMs, 0)
    const { signal } = options
    signal?.throwIfAborted()
    const token = newToken()
    const attempt = { name: id, owner: ownerOf(token), ttlMs, waits: waitMs > 0 }
    const startedMs = this.timing.monotonicMs()
    const untilMs = startedMs + waitMs
    if (waitMs === 0) return this.ask(attempt, token, signal)
    return this.wait({ attempt, token, untilMs, signal }).then((answer) => {
      this.waits.add(this.timing.monotonicMs() - startedMs)
      if (!answer.acquired) this.failures.timedOut++
      return answer
    })
  }

  private async wait({ attempt, token, untilMs, signal }: Wait): Promise<LockAnswer> {
    const { name } = attempt
    const turn = this.turns.enter(name)
    const leftMs = () => untilMs - this.timing.monotonicMs()
    try {
      while (!turn.isFirst) {
        if (leftMs() <= 0) return this.held(name, this.store.pollMs)
        await turn.wait(leftMs(), signal)
        this.refuseClosed()
      }
      for (;;) {
        turn.asks()
        const answer = await this.ask(attempt, token, signal)
        if (answer.acquired || leftMs() <= 0) return answer
        // Try once more: a release before the watch began was not notified.
        if (turn.beginWatching()) continue
        const pollMs = this.store.pollMs * (0.5 + this.random())
        // Just after the lock expires, with jitter so that waiters do not all retry at once.
        const endsInMs = answer.retryAfterMs + this.random() * 5
        await turn.wait(Math.min(leftMs(), pollMs, endsInMs), signal)
        this.refuseClosed()
      }
    } finally {
      turn.leave()
    }
  }

  private ask(attempt: Attempt, token: string, signal: AbortSignal | undefined): Promise<LockAnswer> {
    const wallMs = this.clock.now()
    const startedMs = this.timing.monotonicMs()
    const deciding = this.store.acquire(attempt, wallMs)
    return this.deadlines.within(deciding).then(
      (decided) => {
        if (decided.outcome === 'held') {
          if (!attempt.waits) this.failures.held++
          return this.held(attempt.name, decided.retryAfterMs)
        }
        const { ttlMs } = attempt
        const validity = validitySince(startedMs, ttlMs, this.timing.monotonicMs())
        if (signal?.aborted || this.isClosed || validity.validForMs <= 0) {
          throw this.tooLate(attempt, deciding, signal)
        }
        this.counts.acquired++
        const expiresAt = isoTime(wallMs + ttlMs)
        return acquired(attempt.name, token, decided.fence, expiresAt, validity)
      },
      (error) => {
        // The engine was closed together with this instance. No other error matters.
        if (this.isClosed) throw closed()
        if (!isUnavailable(error)) throw error
        this.undo(attempt, deciding)
        throw unavailable(error)
      },
    )
  }

  /** The store granted the lock, but the caller aborted, the instance was closed, or the lock has expired already. */
  private tooLate(attempt: Attempt, deciding: Promise<unknown>, signal: AbortSignal | undefined): unknown {
    this.undo(attempt, deciding)
    if (signal?.aborted) return signal.reason
    if (this.isClosed) return closed()
    return unavailable(new Error(`the engine took longer than ${attempt.ttlMs} ms, the TTL of the lock`))
  }

  private held(name: string, retryAfterMs: number): HeldByOther {
    this.counts.held++
    return { acquired: false, name, retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) }
  }

  /** The caller gets an error, so it must not hold the lock. If the engine granted it after all, release it. */
  private undo({ name, owner }: Attempt, deciding: Promise<unknown>): void {
    const giveBack = () => this.store.release(name, owner, this.clock.now())
    deciding
      .then(giveBack, giveBack)
      .then(() => this.turns.released(name))
      .catch((error) =>
        this.dependencies.report(
          'a lock of an aborted acquire could not be released; it stays held until it expires',
          error,
        ),
      )
  }

  async extend(name: string, token: string, ttlMs?: number): Promise<Extended | undefined> {
    const id = identifier('name', name)
    const owner = ownerOf(checkToken(token))
    const lifeMs = checkTtl(ttlMs)
    const wallMs = this.clock.now()
    const startedMs = this.timing.monotonicMs()
    const outcome = await this.deadlines.change(this.store.extend(id, owner, lifeMs, wallMs))
    const validity = validitySince(startedMs, lifeMs, this.timing.monotonicMs())
    if (outcome === 'lost' || validity.validForMs <= 0) {
      this.counts.lost++
      return undefined
    }
    return { expiresAt: isoTime(wallMs + lifeMs), ...validity }
  }

  release(name: string, token: string): Promise<boolean> {
    try {
      return this.giveBack(identifier('name', name), ownerOf(checkToken(token)))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  private giveBack(name: string, owner: string): Promise<boolean> {
    return this.deadlines.change(this.store.release(name, owner, this.clock.now())).then((outcome) => {
      this.turns.released(name)
      this.counts[outcome === 'done' ? 'released' : 'lost']++
      return outcome === 'done'
    })
  }

  /**
   * Runs the work while holding one or more locks, and returns its result. All callers take names in the same order, so
   * deadlock is impossible. Takes all names or none. Throws `LOCK_HELD` when they cannot be acquired in time.
   */
  withLock<T>(names: string | readonly string[], work: (lock: HeldLock) => T | Promise<T>): Promise<T>
  withLock<T>(
    names: string | readonly string[],
    options: WithLockOptions | undefined,
    work: (lock: HeldLock) => T | Promise<T>,
  ): Promise<T>
  withLock<T>(
    names: string | readonly string[],
    second: WithLockOptions | undefined | ((lock: HeldLock) => T | Promise<T>),
    third?: (lock: HeldLock) => T | Promise<T>,
  ): Promise<T> {
    const [options = {}, work] = typeof second === 'function' ? [{}, second] : [second, third!]
    return holdWhile(this.holding(), names, options, work)
  }

  /**
   * Like `withLock`, for `await using` and for work that is not one function. Holds the locks and renews them
   * until they are released.
   */
  hold(names: string | readonly string[], options: WithLockOptions = {}): Promise<HeldLocks> {
    return holdAll(this.holding(), names, options)
  }

  private holding(): Holding {
    return { locks: this, timing: this.timing, report: this.dependencies.report }
  }

  async status(name: string): Promise<LockState> {
    const id = identifier('name', name)
    const known = await this.deadlines.within(this.store.read(id, this.clock.now()))
    return {
      name: id,
      held: known?.isHeld ?? false,
      ...(known?.fence !== undefined && { fence: known.fence }),
      ...(known?.isHeld && known.expiresAt !== undefined && { expiresAt: isoTime(known.expiresAt) }),
    }
  }

  async list({ olderThanSeconds, ...query }: LockQuery = {}): Promise<ListedPage<HeldLockState>> {
    const minimumMs = minimumAge('olderThanSeconds', olderThanSeconds)
    const now = this.clock.now()
    const { items, next } = await this.store.list(parseListing(query), now)
    const held = items.map((lock) => heldState(lock, now))
    const isOldEnough = ({ heldForMs = 0 }: HeldLockState) => heldForMs >= minimumMs
    return listedPage(held.filter(isOldEnough), next)
  }

  async forceRelease(name: string): Promise<boolean> {
    const id = identifier('name', name)
    const removed = await this.deadlines.change(this.store.remove(id, this.clock.now()))
    this.turns.released(id)
    return removed
  }

  stats(): LockStats {
    return { ...this.counts }
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.store.sweep(now)
  }

  /** Waiting callers get an error that this instance was closed. Held locks stay until they expire. */
  close(): void {
    this.isClosed = true
    this.turns.close()
  }

  private refuseClosed(): void {
    if (this.isClosed) throw closed()
  }
}

/** A fence is the time at which its lock was acquired, in microseconds, unless that clock went back. */
const heldState = ({ name, fence, expiresAt }: ListedLock, now: number): HeldLockState => ({
  name,
  ...(fence !== undefined && { fence, heldForMs: Math.max(0, Math.round(now - fence / 1000)) }),
  ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
})
