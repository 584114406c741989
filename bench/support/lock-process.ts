/**
 * One process of the proof of locks: takes the lock, works on the resource while it believes to hold it, and is stopped
 * or killed at any moment.
 */
import { openCatraca } from '../../src/app/open-catraca.js'
import { CatracaError } from '../../src/core/errors.js'
import { dieOfFailures } from './proof.js'

export interface LockPlan {
  store: string
  name: string
  ttlMs: number
  /** How long each piece of work keeps the process busy between its look at the lock and its write. */
  busyMs: number
}

export interface LockWrite {
  type: 'write'
  holder: number
  fence: number
  /** When it was made, by the clock that all processes of the machine share. */
  atMs: number
  /** Whether its holder could still have known itself to be the holder. */
  isHeld: boolean
}

/** `working` comes before a piece of work, `write` behind it. */
export type LockSaid = LockWrite | { type: 'working' } | { type: 'refused'; code: string }

const EXPECTED = new Set(['LOCK_HELD', 'LOCK_LOST', 'ENGINE_UNAVAILABLE', 'UNKNOWN_OUTCOME'])
const PIECES = 3

dieOfFailures()
const { store, name, ttlMs, busyMs } = JSON.parse(process.argv[2]!) as LockPlan
const say = (message: LockSaid): void => void process.send!(message)
const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

for (let holder = 1; ; holder++) {
  try {
    await catraca.locks.withLock(name, { ttlMs, waitMs: 10_000 }, async ({ fence, signal, isHeld }) => {
      for (let piece = 0; piece < PIECES; piece++) {
        // All that a careful holder can do without a fence.
        if (signal.aborted || !isHeld()) return
        say({ type: 'working' })
        const until = performance.now() + busyMs
        while (performance.now() < until);
        say({ type: 'write', holder, fence, atMs: Number(process.hrtime.bigint()) / 1e6, isHeld: isHeld() })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
  } catch (error) {
    if (!(error instanceof CatracaError) || !EXPECTED.has(error.code)) throw error
    say({ type: 'refused', code: error.code })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
