import { isMainThread } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'

/**
 * Lets a process end while its threads write. Node stops threads wherever they are, and a thread that is stopped in
 * a write transaction keeps LMDB's lock, for which the end of the process then waits for ever. So the process, when
 * it exits, closes this gate and waits until nobody is behind it. All threads of an instance share one.
 */
export type ExitGate = SharedArrayBuffer

const CLOSED = 0
const INSIDE = 1
/** Of those inside, the ones that have the lock. */
const WORKING = 2
const FIELDS = 3
/** Another process may hold the lock for so long, and no longer, when this one wants to end. */
const LOCK_WAIT_MS = 2000

export function createGate(): ExitGate {
  return new SharedArrayBuffer(FIELDS * Int32Array.BYTES_PER_ELEMENT)
}

/** Runs `work` behind the gate; undefined, and nothing done, once the gate is closed. */
export function behindGate<T>(gate: ExitGate, work: () => T): { result: T } | undefined {
  const state = new Int32Array(gate)
  return counted(state, INSIDE, () => (Atomics.load(state, CLOSED) === 1 ? undefined : { result: work() }))
}

/**
 * Runs `work`, for which the caller behind the gate has got the lock. The end of the process waits for it. Whoever got
 * the lock after the gate was closed lets go of it at once.
 */
export function working<T>(gate: ExitGate, work: () => T): T {
  const state = new Int32Array(gate)
  return counted(state, WORKING, () => {
    if (Atomics.load(state, CLOSED) === 1) throw new CatracaError('CLOSED', 'the process is ending')
    return work()
  })
}

/** For an instance that is closed while threads of it wait for the lock. */
export function closeGate(gate: ExitGate): void {
  Atomics.store(new Int32Array(gate), CLOSED, 1)
}

function counted<T>(state: Int32Array, field: number, work: () => T): T {
  Atomics.add(state, field, 1)
  try {
    return work()
  } finally {
    Atomics.sub(state, field, 1)
    Atomics.notify(state, INSIDE)
  }
}

/** Closes the gate when the process exits; call the result when there is nothing to guard any more. */
export function closeOnExit(gate: ExitGate): () => void {
  const close = (): void => {
    const state = new Int32Array(gate)
    Atomics.store(state, CLOSED, 1)
    for (let waitedMs = 0; Atomics.load(state, INSIDE) > 0; ) {
      const startedAt = performance.now()
      Atomics.wait(state, INSIDE, Atomics.load(state, INSIDE), LOCK_WAIT_MS - waitedMs)
      // A write that has the lock comes to its end. One that waits for another process may never get it.
      if (Atomics.load(state, WORKING) > 0) waitedMs = 0
      else waitedMs += performance.now() - startedAt
      if (waitedMs < LOCK_WAIT_MS) continue
      endProcess()
      return
    }
  }
  process.once('exit', close)
  return () => process.removeListener('exit', close)
}

/**
 * A thread that waits for a lock cannot be stopped, and Node would wait for it as long as somebody else holds the lock.
 * Where only a thread of the process ends, with an instance of its own, the process goes on.
 */
function endProcess(): void {
  if (isMainThread) process.kill(process.pid, 'SIGKILL')
}
