import { isCatracaError } from '../core/errors.js'
import { identifier } from '../core/identifiers.js'
import type { ListedPage } from '../core/listing.js'
import { systemTiming } from '../core/timing.js'
import type { LocksApi } from '../guards/lock/api.js'
import { checkTtl, checkWait, validitySince } from '../guards/lock/options.js'
import type {
  AcquiredLock,
  AcquireOptions,
  Extended,
  HeldLock,
  HeldLockState,
  HeldLocks,
  LockAnswer,
  LockQuery,
  LockState,
  WithLockOptions,
} from '../guards/lock/types.js'
import { type Holding, holdAll, holdWhile } from '../guards/lock/with-lock.js'
import { type Calls, existed, unless } from './calls.js'

/** Longest wait of one request; a longer wait sends further requests. */
const MOST_WAIT_MS = 30_000
/**
 * When the wait took more than this share of the TTL, the lock is extended, which returns its exact remaining time.
 */
const OLD_SHARE = 0.1

/** A server that responds later than this counts as unavailable: the holder of a lock cannot wait for it. */
const ANSWER_MS = 10_000

const lockOf = (name: string) => ({ name: identifier('name', name) })

/** Locks over HTTP, with the results and errors of the library. */
export class RemoteLocks implements LocksApi {
  private readonly inTime: { timeoutMs: number }

  constructor(
    private readonly calls: Calls,
    private readonly report: (message: string, error: unknown) => void = () => {},
    answerMs = ANSWER_MS,
  ) {
    this.inTime = { timeoutMs: answerMs }
  }

  /** As in the library: runs the work while holding one or more locks. */
  withLock<T>(
    names: string | readonly string[],
    options: WithLockOptions | undefined,
    work: (lock: HeldLock) => T | Promise<T>,
  ): Promise<T> {
    return holdWhile(this.holding(), names, options ?? {}, work)
  }

  /** As in the library: holds and renews the locks until they are released. */
  hold(names: string | readonly string[], options: WithLockOptions = {}): Promise<HeldLocks> {
    return holdAll(this.holding(), names, options)
  }

  private holding(): Holding {
    return { locks: this, timing: systemTiming, report: this.report }
  }

  async acquire(name: string, options: AcquireOptions = {}): Promise<LockAnswer> {
    const id = identifier('name', name)
    const ttlMs = checkTtl(options.ttlMs)
    const untilMs = performance.now() + checkWait(options.waitMs, 0)
    for (;;) {
      const waitMs = Math.max(0, Math.min(MOST_WAIT_MS, Math.floor(untilMs - performance.now())))
      const answer = await this.ask(id, ttlMs, waitMs, options.signal)
      if (answer.acquired || performance.now() >= untilMs) return answer
    }
  }

  async extend(name: string, token: string, ttlMs?: number): Promise<Extended | undefined> {
    const lifeMs = checkTtl(ttlMs)
    const startedMs = performance.now()
    const input = { ...lockOf(name), body: { token, ttlMs: lifeMs } }
    const extended = await unless('LOCK_LOST', this.calls.extendLock<Extended>(input, this.inTime))
    return extended && { ...extended, ...validitySince(startedMs, lifeMs, performance.now()) }
  }

  async release(name: string, token: string): Promise<boolean> {
    return existed('LOCK_LOST', this.calls.releaseLock({ ...lockOf(name), body: { token } }, this.inTime))
  }

  async status(name: string): Promise<LockState> {
    return this.calls.getLock(lockOf(name), this.inTime)
  }

  async list(query?: LockQuery): Promise<ListedPage<HeldLockState>> {
    return this.calls.listLocks(query)
  }

  async forceRelease(name: string): Promise<boolean> {
    const { held } = await this.status(name)
    await this.calls.forceReleaseLock(lockOf(name), this.inTime)
    return held
  }

  private async ask(
    name: string,
    ttlMs: number,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<LockAnswer> {
    const startedMs = performance.now()
    const timeoutMs = waitMs + this.inTime.timeoutMs
    let lock: Pick<AcquiredLock, 'token' | 'fence' | 'expiresAt'>
    try {
      lock = await this.calls.acquireLock({ name, body: { ttlMs, waitMs } }, { signal, timeoutMs })
    } catch (error) {
      signal?.throwIfAborted()
      if (!isCatracaError(error, 'LOCK_HELD')) throw error
      return { acquired: false, name, retryAfterMs: Number(error.facts?.retryAfterMs ?? 1000) }
    }
    const answer = { acquired: true, name, ...lock } as const
    if (performance.now() - startedMs < ttlMs * OLD_SHARE) {
      return { ...answer, ...validitySince(startedMs, ttlMs, performance.now()) }
    }
    const extended = await this.extend(name, lock.token, ttlMs).catch((error) => {
      // No other caller knows the token.
      this.release(name, lock.token).catch(() => {})
      throw error
    })
    if (extended !== undefined) return { ...answer, ...extended }
    return { acquired: false, name, retryAfterMs: 1 }
  }
}
