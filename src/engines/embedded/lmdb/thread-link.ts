import type { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { later } from '../../../core/timers.js'
import type { ExitGate } from './exit-gate.js'
import { endOrAbandon } from './thread-calls.js'

interface Pending {
  resolve(result: unknown): void
  reject(error: unknown): void
  timer: NodeJS.Timeout | undefined
}

interface Timeout {
  ms: number
  error: () => CatracaError
}

/** The serving thread's side of a thread that answers numbered calls. The first call starts the thread. */
export class ThreadLink {
  private worker: Worker | undefined
  private nextId = 1
  private readonly pending = new Map<number, Pending>()
  private closed = false

  constructor(
    /** For errors. */
    private readonly name: string,
    /** Starts the thread, and hands its answers to `take`. */
    private readonly start: () => Worker,
  ) {}

  get isClosed(): boolean {
    return this.closed
  }

  get isStarted(): boolean {
    return this.worker !== undefined
  }

  /** `make` runs after the thread is started, because a new thread does not know what was sent to an earlier one. */
  send(make: (id: number) => unknown, timeout?: Timeout): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // After the close message, the thread answers no calls.
      if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
      const worker = (this.worker ??= this.startWatched())
      const id = this.nextId++
      const timer = timeout && later(() => this.take(id)?.reject(timeout.error()), timeout.ms)
      this.pending.set(id, { resolve, reject, timer })
      worker.ref()
      worker.postMessage(make(id))
    })
  }

  private startWatched(): Worker {
    const worker = this.start()
    worker.on('error', (error) => this.onLost(worker, error))
    worker.on('exit', () => this.onLost(worker, undefined))
    return worker
  }

  /** The call with this number, which is over now. Undefined: nobody waits for it any more. */
  take(id: number): Pick<Pending, 'resolve' | 'reject'> | undefined {
    const pending = this.pending.get(id)
    if (pending === undefined) return undefined
    clearTimeout(pending.timer)
    this.pending.delete(id)
    if (this.pending.size === 0) this.worker?.unref()
    return pending
  }

  private onLost(worker: Worker, cause: unknown): void {
    // A failed thread is reported twice, by `error` and by `exit`. By the second time a new thread may have started.
    if (this.worker !== worker) return
    this.worker = undefined
    for (const id of [...this.pending.keys()]) {
      // It may have committed before it ended.
      const message = `the ${this.name} thread exited before it answered`
      this.take(id)?.reject(new CatracaError('UNKNOWN_OUTCOME', message, { cause }))
    }
  }

  /** Waits for calls in flight, up to the timeout. False: the thread still waits for the lock. */
  async close(message: unknown, gate: ExitGate, timeoutMs: number): Promise<boolean> {
    this.closed = true
    const { worker } = this
    if (worker === undefined) return true
    worker.ref()
    worker.postMessage(message)
    return endOrAbandon(worker, gate, timeoutMs)
  }
}
