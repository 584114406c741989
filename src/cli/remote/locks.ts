import { isCatracaError } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { LocksApi } from '../../guards/lock/api.js'
import { checkTtl, checkWait, validitySince } from '../../guards/lock/options.js'
import type {
  AcquiredLock,
  AcquireOptions,
  Extended,
  LockAnswer,
  LockState,
} from '../../guards/lock/types.js'
import type { HttpTransport } from './transport.js'

/** Longest wait of one request; a longer wait sends further requests. */
const MOST_WAIT_MS = 30_000
/**
 * When the wait took more than this share of the TTL, the lock is extended, which returns its exact remaining time.
 */
const OLD_SHARE = 0.1

/** A server that responds later than this counts as unavailable: the holder of a lock cannot wait for it. */
const ANSWER_MS = 10_000

type Told = Pick<AcquiredLock, 'token' | 'fence' | 'expiresAt'>

/** Locks over HTTP, with the results and errors of the library. */
export class HttpLocks implements LocksApi {
  constructor(
    private readonly http: HttpTransport,
    private readonly answerMs = ANSWER_MS,
  ) {}

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
    const path = `${lockPath(name)}/extend`
    const extending = this.call<{ expiresAt: string }>('POST', path, { token, ttlMs: lifeMs })
    const extended = await unlessLost(extending)
    return extended && { ...extended, ...validitySince(startedMs, lifeMs, performance.now()) }
  }

  async release(name: string, token: string): Promise<boolean> {
    const releasing = this.call('POST', `${lockPath(name)}/release`, { token })
    return (await unlessLost(releasing.then(() => true))) ?? false
  }

  status(name: string): Promise<LockState> {
    return this.call('GET', lockPath(name))
  }

  async forceRelease(name: string): Promise<boolean> {
    const { held } = await this.status(name)
    await this.call('DELETE', lockPath(name))
    return held
  }

  private async ask(
    name: string,
    ttlMs: number,
    waitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<LockAnswer> {
    const startedMs = performance.now()
    let told: Told
    try {
      told = await this.call('POST', lockPath(name), { ttlMs, waitMs }, waitMs, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isCatracaError(error, 'LOCK_HELD')) throw error
      return { acquired: false, name, retryAfterMs: Number(error.facts?.retryAfterMs ?? 1000) }
    }
    const answer = { acquired: true, name, ...told } as const
    if (performance.now() - startedMs < ttlMs * OLD_SHARE) {
      return { ...answer, ...validitySince(startedMs, ttlMs, performance.now()) }
    }
    const extended = await this.extend(name, told.token, ttlMs).catch((error) => {
      // No other caller knows the token.
      this.release(name, told.token).catch(() => {})
      throw error
    })
    if (extended !== undefined) return { ...answer, ...extended }
    return { acquired: false, name, retryAfterMs: 1 }
  }

  private call<T>(method: string, path: string, body?: object, waitMs = 0, signal?: AbortSignal): Promise<T> {
    const late = AbortSignal.timeout(waitMs + this.answerMs)
    const signals = signal === undefined ? late : AbortSignal.any([late, signal])
    return this.http.json(method, path, { signal: signals, ...(body !== undefined && { body }) })
  }
}

async function unlessLost<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isCatracaError(error, 'LOCK_LOST')) return undefined
    throw error
  }
}

/** Checked before it becomes part of a path, as for allowlists. */
const lockPath = (name: string): string => `/locks/${encodeURIComponent(identifier('name', name))}`
