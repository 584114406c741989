import type { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { unpackError } from '../../../core/packed-error.js'
import { startThread } from '../../../core/thread-files.js'
import { later } from '../../../core/timers.js'
import type { Stores } from '../stores.js'
import type { Environment, EnvironmentOptions } from './environment.js'
import { type Answer, type Call, endOrAbandon } from './thread-calls.js'

interface Pending {
  resolve(result: unknown): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

type Verbs<Store> = {
  [Verb in keyof Store]: Store[Verb] extends (...args: never[]) => Promise<unknown> ? Verb : never
}

/** The serving thread's proxy of the writer thread. The first write starts the thread. */
export class Writer<All extends object = Stores> {
  private worker: Worker | undefined
  private nextId = 1
  private readonly pending = new Map<number, Pending>()
  private closed = false

  constructor(
    private readonly options: EnvironmentOptions,
    private readonly environment: Environment,
    private readonly timeoutMs: number,
    private readonly thread = new URL('./writer-thread.js', import.meta.url),
  ) {}

  /** A store like `local`, but the given verbs run in the writer thread. */
  forward<Name extends keyof All & string, Verb extends Verbs<All[Name]>[keyof All[Name]]>(
    name: Name,
    local: All[Name],
    verbs: readonly Verb[],
  ): All[Name] {
    const forwarded = Object.create(local as object) as Record<string, unknown>
    for (const verb of verbs as readonly string[]) {
      forwarded[verb] = (...args: unknown[]) => this.call(name, verb, args)
    }
    return forwarded as unknown as All[Name]
  }

  private call(store: string, verb: string, args: unknown[]): Promise<unknown> {
    this.environment.assertOpen()
    return new Promise((resolve, reject) => {
      // After the close message, the thread answers no calls.
      if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
      const id = this.nextId++
      const timer = later(() => this.onTimeout(id), this.timeoutMs)
      this.pending.set(id, { resolve, reject, timer })
      const worker = (this.worker ??= this.start())
      worker.ref()
      worker.postMessage({ id, store, verb, args } satisfies Call)
    })
  }

  private start(): Worker {
    const worker = startThread(this.thread, {
      workerData: this.options,
      // Not the flags of this process: some, such as --input-type, apply only to its entry file.
      execArgv: [],
    })
    worker.on('message', (answer: Answer) => this.handleAnswer(answer))
    worker.on('error', (error) => this.onThreadLost(worker, error))
    worker.on('exit', () => this.onThreadLost(worker, undefined))
    return worker
  }

  private handleAnswer(answer: Answer): void {
    const pending = this.take(answer.id)
    if (pending === undefined) return
    // After the call returns, every read in this thread must see the write.
    if (!this.closed) this.environment.refresh()
    if ('error' in answer) pending.reject(unpackError(answer.error))
    else pending.resolve(answer.result)
  }

  private onTimeout(id: number): void {
    const message = `the write was not done within ${this.timeoutMs} ms: another process may hold the store`
    this.take(id)?.reject(new CatracaError('UNKNOWN_OUTCOME', message))
  }

  private take(id: number): Pending | undefined {
    const pending = this.pending.get(id)
    if (pending === undefined) return undefined
    clearTimeout(pending.timer)
    this.pending.delete(id)
    if (this.pending.size === 0) this.worker?.unref()
    return pending
  }

  private onThreadLost(worker: Worker, cause: unknown): void {
    // A failed thread is reported twice, by `error` and by `exit`. By the second time a new thread may have started.
    if (this.worker !== worker) return
    this.worker = undefined
    for (const id of [...this.pending.keys()]) {
      const message = 'the writer thread exited before it answered'
      this.take(id)?.reject(new CatracaError('UNKNOWN_OUTCOME', message, { cause }))
    }
  }

  /** Waits for writes in flight, up to the write timeout. False: the thread still waits for the lock. */
  async close(): Promise<boolean> {
    this.closed = true
    const { worker } = this
    if (worker === undefined) return true
    worker.ref()
    worker.postMessage('close' satisfies Call)
    return endOrAbandon(worker, this.options.gate, this.timeoutMs)
  }
}
