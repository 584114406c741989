import { after } from 'node:test'
import { NOW } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import { Locks } from '../../../src/guards/lock/index.js'
import { DEFAULT_LOCKS, type LockOptions } from '../../../src/guards/lock/options.js'
import type { LockStore } from '../../../src/guards/lock/port.js'
import { embeddedInTurn } from '../../support/embedded-pair.js'
import { ManualTiming } from '../../support/manual-timing.js'

const nextEngine = embeddedInTurn()
/** Asks the thread that writes for nothing. It answers in turn, so what was asked before is answered too. */
let roundTrip = async (): Promise<unknown> => undefined

export interface Guarded {
  locks: Locks
  /** A second instance on the same store, as another process would have it. */
  other: Locks
  store: LockStore
  timing: ManualTiming
  reports: string[]
  /** Moves both clocks, and does what becomes due. */
  advance(ms: number): Promise<void>
}

/** Guards over a store in memory, whose time stands still until it is moved. */
export async function guarded(
  wrap: (store: LockStore) => LockStore = (store) => store,
  options?: Partial<LockOptions>,
): Promise<Guarded> {
  const engine = nextEngine()
  const clock = new ManualClock(NOW)
  const timing = new ManualTiming()
  const reports: string[] = []
  const store = wrap(engine.locks)
  // The thread that writes takes its time to begin.
  roundTrip = () => engine.locks.remove('nothing', NOW)
  await roundTrip()
  const open = (held: LockStore, given: Partial<LockOptions> = {}) =>
    new Locks({
      store: held,
      clock,
      timing,
      random: () => 0.5,
      options: { ...DEFAULT_LOCKS, ...given },
      report: (message) => reports.push(message),
    })
  const [locks, other] = [open(store, options), open(engine.locks)]
  after(() => {
    locks.close()
    other.close()
  })
  return {
    locks,
    other,
    store: engine.locks,
    timing,
    reports,
    async advance(ms) {
      // In small steps, so that what an extension asks of the store comes at its time.
      const stepMs = Math.max(1, ms / 50)
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(stepMs)
        await timing.advance(stepMs)
        await settled()
      }
    },
  }
}

/** Lets the thread that writes answer, and what follows from its answers, several times over. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await roundTrip()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Resolves when the store has told those who wait that the lock is free. The embedded store looks in real time. */
export async function toldFree(store: LockStore, name: string): Promise<void> {
  // The store's own timer does not keep a process alive.
  const alive = setInterval(() => {}, 1000)
  await new Promise<void>((resolve) => {
    const stop = store.watch(name, () => {
      stop()
      resolve()
    })
  })
  clearInterval(alive)
}

export async function taken(locks: Locks, name: string, ttlMs = 30_000) {
  const answer = await locks.acquire(name, { ttlMs })
  if (!answer.acquired) throw new Error(`${name} is held`)
  return answer
}

/** The verbs of a store, so that some can be put in their place. */
export function bound(store: LockStore): LockStore {
  return {
    acquire: (attempt, now) => store.acquire(attempt, now),
    extend: (name, owner, ttlMs, now) => store.extend(name, owner, ttlMs, now),
    release: (name, owner, now) => store.release(name, owner, now),
    read: (name, now) => store.read(name, now),
    list: (request, now) => store.list(request, now),
    remove: (name, now) => store.remove(name, now),
    watch: (name, onFree) => store.watch(name, onFree),
    sweep: (now) => store.sweep(now),
    pollMs: store.pollMs,
  }
}
