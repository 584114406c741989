import { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { unpackError } from '../../../core/packed-error.js'
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

/** The serving thread's side of the thread that writes. The thread is started by the first write. */
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

  /** A store like `local`, whose given verbs are done by the thread that writes. */
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
      // Behind the message that closes it, the thread answers nobody.
      if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
      const id = this.nextId++
      const timer = later(() => this.giveUp(id), this.timeoutMs)
      this.pending.set(id, { resolve, reject, timer })
      const worker = (this.worker ??= this.start())
      worker.ref()
      worker.postMessage({ id, store, verb, args } satisfies Call)
    })
  }

  private start(): Worker {
    const worker = new Worker(this.thread, {
      workerData: this.options,
      // Not the flags of this process: some, such as --input-type, make sense for its own entry only.
      execArgv: [],
    })
    worker.on('message', (answer: Answer) => this.settle(answer))
    worker.on('error', (error) => this.lose(worker, error))
    worker.on('exit', () => this.lose(worker, undefined))
    return worker
  }

  private settle(answer: Answer): void {
    const pending = this.take(answer.id)
    if (pending === undefined) return
    // What was written must be seen by whoever is told so.
    if (!this.closed) this.environment.refresh()
    if ('error' in answer) pending.reject(unpackError(answer.error))
    else pending.resolve(answer.result)
  }

  private giveUp(id: number): void {
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

  private lose(worker: Worker, cause: unknown): void {
    // A thread that failed is lost twice, by its error and by its end: by then another may be at work.
    if (this.worker !== worker) return
    this.worker = undefined
    for (const id of [...this.pending.keys()]) {
      const message = 'the writer thread exited before it answered'
      this.take(id)?.reject(new CatracaError('UNKNOWN_OUTCOME', message, { cause }))
    }
  }

  /** Waits for what is being written, as long as a write may take. False: the thread still waits for the lock. */
  async close(): Promise<boolean> {
    this.closed = true
    const { worker } = this
    if (worker === undefined) return true
    worker.ref()
    worker.postMessage('close' satisfies Call)
    return endOrAbandon(worker, this.options.gate, this.timeoutMs)
  }
}
