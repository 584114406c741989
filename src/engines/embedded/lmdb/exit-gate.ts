import { isMainThread } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'

/**
 * Lets a process exit while its threads write. Node stops threads at any point. A thread that is stopped in a write
 * transaction still holds LMDB's lock, and the exiting process would wait for that lock for ever. So on exit the
 * process closes this gate and waits until no thread is behind it. All threads of an instance share one gate.
 */
export type ExitGate = SharedArrayBuffer

const CLOSED = 0
const INSIDE = 1
/** The number of threads behind the gate that hold the lock. */
const WORKING = 2
const FIELDS = 3
/** On exit: how long to wait while another process holds the lock. */
const LOCK_WAIT_MS = 2000

export function createGate(): ExitGate {
  return new SharedArrayBuffer(FIELDS * Int32Array.BYTES_PER_ELEMENT)
}

/** Runs `work` behind the gate. Returns undefined, without running it, if the gate is closed. */
export function behindGate<T>(gate: ExitGate, work: () => T): { result: T } | undefined {
  const state = new Int32Array(gate)
  return counted(state, INSIDE, () => (Atomics.load(state, CLOSED) === 1 ? undefined : { result: work() }))
}

/**
 * Runs `work` for a caller behind the gate that holds the lock. The exiting process waits for it. A caller that got
 * the lock after the gate was closed releases it at once.
 */
export function working<T>(gate: ExitGate, work: () => T): T {
  const state = new Int32Array(gate)
  return counted(state, WORKING, () => {
    if (Atomics.load(state, CLOSED) === 1) throw new CatracaError('CLOSED', 'the process is ending')
    return work()
  })
}

/** For an instance that is closed while its threads wait for the lock. */
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

/** Closes the gate when the process exits. Call the returned function when no thread needs the gate any more. */
export function closeOnExit(gate: ExitGate): () => void {
  const close = (): void => {
    const state = new Int32Array(gate)
    Atomics.store(state, CLOSED, 1)
    for (let waitedMs = 0; Atomics.load(state, INSIDE) > 0; ) {
      const startedAt = performance.now()
      Atomics.wait(state, INSIDE, Atomics.load(state, INSIDE), LOCK_WAIT_MS - waitedMs)
      // A write that holds the lock will end. One that waits for another process may never get the lock.
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
 * A thread that waits for a lock cannot be stopped, and Node would wait for it as long as another process holds the
 * lock. If this is a worker thread with its own instance, only the thread ends and the process continues.
 */
function endProcess(): void {
  if (isMainThread) process.kill(process.pid, 'SIGKILL')
}
