/**
 * Lets a process end while its threads write. Node stops threads wherever they are, and a thread that is stopped in
 * a write transaction keeps LMDB's lock, for which the end of the process then waits for ever. So the process, when
 * it exits, closes this gate and waits until nobody is behind it. All threads of an instance share one.
 */
export type ExitGate = SharedArrayBuffer

const CLOSED = 0
const INSIDE = 1
/** A thread may be waiting for the lock of another process. */
const WAIT_MS = 2000

export function createGate(): ExitGate {
  return new SharedArrayBuffer(8)
}

/** Runs `work` behind the gate; undefined, and nothing done, once the gate is closed. */
export function behindGate<T>(gate: ExitGate, work: () => T): { result: T } | undefined {
  const state = new Int32Array(gate)
  Atomics.add(state, INSIDE, 1)
  try {
    return Atomics.load(state, CLOSED) === 1 ? undefined : { result: work() }
  } finally {
    Atomics.sub(state, INSIDE, 1)
    Atomics.notify(state, INSIDE)
  }
}

/** Closes the gate when the process exits; call the result when there is nothing to guard any more. */
export function closeOnExit(gate: ExitGate): () => void {
  const state = new Int32Array(gate)
  const close = (): void => {
    Atomics.store(state, CLOSED, 1)
    const deadline = Date.now() + WAIT_MS
    for (let inside = Atomics.load(state, INSIDE); inside > 0; inside = Atomics.load(state, INSIDE)) {
      const leftMs = deadline - Date.now()
      if (leftMs <= 0 || Atomics.wait(state, INSIDE, inside, leftMs) === 'timed-out') return endNow()
    }
  }
  process.once('exit', close)
  return () => process.removeListener('exit', close)
}

/** A thread that waits for a lock cannot be stopped, and Node would wait for it as long as somebody else holds the lock. */
function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}
