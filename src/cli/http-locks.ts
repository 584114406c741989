import { isCatracaError } from '../errors.js'
import { identifier } from '../key.js'
import type { LocksApi } from '../lock/api.js'
import { checkTtl, checkWait, validityMs } from '../lock/options.js'
import type { AcquiredLock, AcquireOptions, Extended, LockAnswer, LockState } from '../lock/types.js'
import type { HttpTransport } from './http-transport.js'

/** What one request may wait for; longer waits ask again. */
const MOST_WAIT_MS = 30_000
/** A lock that was waited for may be this old when the answer comes: then it is extended, which tells its age. */
const OLD_SHARE = 0.1

type Told = Pick<AcquiredLock, 'token' | 'fence' | 'expiresAt'>

/** The locks of a server, with the answers and the errors of the library. */
export class HttpLocks implements LocksApi {
  constructor(private readonly http: HttpTransport) {}

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
    const extending = this.http.json<{ expiresAt: string }>('POST', `${lockPath(name)}/extend`, {
      body: { token, ttlMs: lifeMs },
    })
    const extended = await unlessLost(extending)
    return extended && { ...extended, validForMs: startedMs + validityMs(lifeMs) - performance.now() }
  }

  async release(name: string, token: string): Promise<boolean> {
    const releasing = this.http.json('POST', `${lockPath(name)}/release`, { body: { token } })
    return (await unlessLost(releasing.then(() => true))) ?? false
  }

  status(name: string): Promise<LockState> {
    return this.http.json('GET', lockPath(name))
  }

  async forceRelease(name: string): Promise<boolean> {
    const { held } = await this.status(name)
    await this.http.json('DELETE', lockPath(name))
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
      const call = { body: { ttlMs, waitMs }, ...(signal !== undefined && { signal }) }
      told = await this.http.json('POST', lockPath(name), call)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isCatracaError(error, 'LOCK_HELD')) throw error
      return { acquired: false, name, retryAfterMs: Number(error.facts?.retryAfterMs ?? 1000) }
    }
    const answer = { acquired: true, name, ...told } as const
    const tookMs = performance.now() - startedMs
    if (tookMs < ttlMs * OLD_SHARE) return { ...answer, validForMs: validityMs(ttlMs) - tookMs }
    const extended = await this.extend(name, told.token, ttlMs)
    if (extended !== undefined) return { ...answer, ...extended }
    return { acquired: false, name, retryAfterMs: 1 }
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
