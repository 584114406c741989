import type { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { unpackError } from '../../../core/packed-error.js'
import { startThread } from '../../../core/thread-files.js'
import type { Stores } from '../stores.js'
import type { Environment, EnvironmentOptions } from './environment.js'
import type { Answer, Call } from './thread-calls.js'
import { ThreadLink } from './thread-link.js'

type Verbs<Store> = {
  [Verb in keyof Store]: Store[Verb] extends (...args: never[]) => Promise<unknown> ? Verb : never
}

/** The serving thread's proxy of the writer thread. The first write starts the thread. */
export class Writer<All extends object = Stores> {
  private readonly link = new ThreadLink('writer', () => this.start())

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
    const timeout = { ms: this.timeoutMs, error: () => this.timedOut() }
    return this.link.send((id) => ({ id, store, verb, args }) satisfies Call, timeout)
  }

  private timedOut(): CatracaError {
    const message = `the write was not done within ${this.timeoutMs} ms: another process may hold the store`
    return new CatracaError('UNKNOWN_OUTCOME', message)
  }

  private start(): Worker {
    const worker = startThread(this.thread, this.options)
    worker.on('message', (answer: Answer) => this.handleAnswer(answer))
    return worker
  }

  private handleAnswer(answer: Answer): void {
    const pending = this.link.take(answer.id)
    if (pending === undefined) return
    // After the call returns, every read in this thread must see the write.
    if (!this.link.isClosed) this.environment.refresh()
    if ('error' in answer) pending.reject(unpackError(answer.error))
    else pending.resolve(answer.result)
  }

  /** Waits for writes in flight, up to the write timeout. False: the thread still waits for the lock. */
  close(): Promise<boolean> {
    return this.link.close('close' satisfies Call, this.options.gate, this.timeoutMs)
  }
}
