import { follow, refuseAborted } from '../../core/abort.js'
import { CatracaError, invalid } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { Timing } from '../../core/timing.js'
import type { LocksApi } from './api.js'
import { Hold } from './hold.js'
import { checkTtl, checkWait, DEFAULT_WAIT_MS, MOST_NAMES } from './options.js'
import type { HeldByOther, HeldLock, HeldLocks, WithLockOptions } from './types.js'

export interface Holding {
  locks: LocksApi
  timing: Timing
  report: (message: string, error: unknown) => void
}

/** Runs the work while holding all names. Works with the library and with an HTTP client. */
export async function holdWhile<T>(
  around: Holding,
  names: string | readonly string[],
  options: WithLockOptions,
  work: (lock: HeldLock) => T | Promise<T>,
): Promise<T> {
  if (typeof work !== 'function') throw invalid('work', 'must be a function')
  const lock = await holdAll(around, names, options)
  try {
    return await work(lock)
  } finally {
    await lock.release()
  }
}

/** Takes all names or none, and holds them until they are released. */
export async function holdAll(
  { locks, timing, report }: Holding,
  names: string | readonly string[],
  options: WithLockOptions,
): Promise<HeldLocks> {
  const asked = namesOf(names)
  const ttlMs = checkTtl(options.ttlMs)
  const untilMs = timing.monotonicMs() + checkWait(options.waitMs, DEFAULT_WAIT_MS)
  const over = new AbortController()
  const { signal } = over
  const stopFollowing = follow(options.signal, over)
  const holds: Hold[] = []
  const release = async () => {
    stopFollowing()
    // In parallel: if the store does not answer, wait for one timeout, not one per lock.
    await Promise.all(
      holds
        .splice(0)
        .reverse()
        .map((hold) => hold.end()),
    )
  }
  try {
    for (const name of [...new Set(asked)].sort()) {
      const waitMs = Math.max(0, Math.floor(untilMs - timing.monotonicMs()))
      const answer = await locks.acquire(name, { ttlMs, waitMs, signal })
      if (!answer.acquired) throw lockHeld(answer)
      const autoExtend = options.autoExtend ?? true
      const onLost = (reason: CatracaError) => over.abort(reason)
      holds.push(new Hold({ locks, timing, report }, answer, { ttlMs, autoExtend, onLost }))
    }
    refuseAborted(signal)
    // If the process was suspended, the clock shows the loss before the timers fire.
    const late = holds.find((hold) => !hold.isHeld())
    if (late !== undefined) throw late.lostError()
    return Object.assign(heldLock(asked, [...holds], signal), { release, [Symbol.asyncDispose]: release })
  } catch (error) {
    await release()
    throw error
  }
}

function heldLock(asked: readonly string[], holds: readonly Hold[], signal: AbortSignal): HeldLock {
  const byName = new Map(holds.map((hold) => [hold.name, hold]))
  const fenceOf = (name: string) => byName.get(identifier('name', name))?.fence
  return {
    get fence() {
      const fence = fenceOf(asked[0]!)
      if (fence !== undefined) return fence
      throw new CatracaError('STORE_UNSUPPORTED', 'this store has no fencing numbers (Redlock)')
    },
    fenceOf,
    signal,
    isHeld: () => !signal.aborted && holds.every((hold) => hold.isHeld()),
    async extend(ttlMs) {
      await Promise.all(holds.map((hold) => hold.extend(ttlMs)))
    },
  }
}

function namesOf(names: string | readonly string[]): string[] {
  if (!Array.isArray(names)) return [identifier('name', names)]
  if (names.length === 0 || names.length > MOST_NAMES) {
    throw invalid('names', `must be 1 to ${MOST_NAMES} names`)
  }
  return names.map((name, i) => identifier(`names[${i}]`, name))
}

export function lockHeld({ name, retryAfterMs }: HeldByOther): CatracaError {
  return new CatracaError('LOCK_HELD', `another caller holds the lock ${name}`, { facts: { retryAfterMs } })
}
