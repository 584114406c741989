import { CatracaError, invalid } from '../errors.js'
import { identifier } from '../key.js'
import type { LocksApi } from './api.js'
import { Hold } from './hold.js'
import { checkTtl, checkWait, DEFAULT_WAIT_MS, MOST_NAMES } from './options.js'
import type { Timing } from './timing.js'
import type { HeldByOther, HeldLock, WithLockOptions } from './types.js'

export interface Holding {
  locks: LocksApi
  timing: Timing
  report: (message: string, error: unknown) => void
}

/** Runs the work while holding all names: over the library, and as well over a server. */
export async function holdWhile<T>(
  { locks, timing, report }: Holding,
  names: string | readonly string[],
  options: WithLockOptions,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const asked = namesOf(names)
  const ttlMs = checkTtl(options.ttlMs)
  const untilMs = timing.monotonicMs() + checkWait(options.waitMs, DEFAULT_WAIT_MS)
  const over = new AbortController()
  const { signal } = over
  const stopFollowing = follow(options.signal, over)
  const holds: Hold[] = []
  try {
    for (const name of [...new Set(asked)].sort()) {
      const waitMs = Math.max(0, Math.floor(untilMs - timing.monotonicMs()))
      const answer = await locks.acquire(name, { ttlMs, waitMs, signal })
      if (!answer.acquired) throw lockHeld(answer)
      const autoExtend = options.autoExtend ?? true
      const onLost = (reason: CatracaError) => over.abort(reason)
      holds.push(new Hold({ locks, timing, report }, answer, { ttlMs, autoExtend, onLost }))
    }
    signal.throwIfAborted()
    // A process that was stopped meanwhile knows it by the clock before its timers say so.
    const late = holds.find((hold) => !hold.isHeld())
    if (late !== undefined) throw late.lostError()
    return await work(heldLock(asked, holds, signal))
  } finally {
    stopFollowing()
    // All at once: a store that does not answer is waited for once, however many they are.
    await Promise.all(holds.reverse().map((hold) => hold.end()))
  }
}

/** By hand: what `AbortSignal.any` makes of a signal that lives long is never forgotten by it on Node 20. */
function follow(given: AbortSignal | undefined, controller: AbortController): () => void {
  if (given === undefined) return () => {}
  const abort = () => controller.abort(given.reason)
  if (given.aborted) abort()
  else given.addEventListener('abort', abort, { once: true })
  return () => given.removeEventListener('abort', abort)
}

function heldLock(asked: readonly string[], holds: readonly Hold[], signal: AbortSignal): HeldLock {
  const byName = new Map(holds.map((hold) => [hold.name, hold]))
  const fenceOf = (name: string) => byName.get(identifier('name', name))?.fence
  return {
    get fence() {
      const fence = fenceOf(asked[0]!)
      if (fence !== undefined) return fence
      throw new CatracaError('STORE_UNSUPPORTED', 'this store gives no fences (Redlock does not)')
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
  return new CatracaError('LOCK_HELD', `somebody else has the lock ${name}`, { facts: { retryAfterMs } })
}
