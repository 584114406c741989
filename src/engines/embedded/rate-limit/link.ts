import { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { unpackError } from '../../../core/packed-error.js'
import { soon } from '../../../core/timers.js'
import type {
  Freed,
  LeaseOutcome,
  LeaseUse,
  LimitStore,
  SubjectCosts,
  Taken,
} from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { EnvironmentOptions } from '../lmdb/environment.js'
import type { ExitGate } from '../lmdb/exit-gate.js'
import { endOrAbandon } from '../lmdb/thread-calls.js'
import type { TakeRequest } from './counters.js'
import type { FromLimitThread, LimitCall, ToLimitThread } from './thread.js'
import { type PackedAnswer, QuestionPacker, readAnswer } from './wire.js'

interface Pending {
  resolve(result: unknown): void
  reject(error: unknown): void
}

type WaitingTake = Pending & TakeRequest

/**
 * With more takes in a message, one thread would wait for the other. With fewer, the commits would cost more than the
 * takes.
 */
const TAKES_PER_MESSAGE = 32

/** The serving thread's proxy of the counter thread. The first call starts the thread. */
export class LimitLink implements LimitStore {
  private worker: Worker | undefined
  private nextId = 1
  private readonly pending = new Map<number, Pending>()
  private waiting: WaitingTake[] = []
  private readonly packer = new QuestionPacker()
  private readonly listeners = new Set<(freed: Freed) => void>()
  private closed = false

  constructor(
    private readonly options: () => EnvironmentOptions,
    private readonly gate: ExitGate,
    private readonly closeTimeoutMs: number,
  ) {}

  /** The calls of one event-loop turn share a message and a transaction. */
  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    return new Promise<Taken>((resolve, reject) => {
      if (this.waiting.length === 0) soon(() => this.sendWaiting())
      this.waiting.push({ subjects, now, resolve: resolve as Pending['resolve'], reject })
    })
  }

  private sendWaiting(): void {
    const { waiting } = this
    this.waiting = []
    for (let from = 0; from < waiting.length; from += TAKES_PER_MESSAGE) {
      this.sendTakes(waiting.slice(from, from + TAKES_PER_MESSAGE))
    }
  }

  private sendTakes(takes: WaitingTake[]): void {
    this.call(() => ({ verb: 'take', take: this.packer.pack(takes) })).then(
      (answers) => {
        takes.forEach((take, i) => {
          take.resolve(readAnswer((answers as PackedAnswer[])[i]!, take))
        })
      },
      (error) => {
        for (const { reject } of takes) reject(error)
      },
    )
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.call(() => ({ verb: 'adjust', lease, adjustment, now })) as Promise<LeaseOutcome>
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.call(() => ({ verb: 'giveBack', lease, now })) as Promise<LeaseOutcome>
  }

  reset(subject: Subject): Promise<boolean> {
    return this.call(() => ({ verb: 'reset', subject })) as Promise<boolean>
  }

  /** Without a thread, nothing was ever denied here and there is nothing to sweep. */
  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    if (this.worker === undefined) return { swept: 0, more: false }
    return this.call(() => ({ verb: 'sweep', now })) as Promise<{ swept: number; more: boolean }>
  }

  watch(listener: (freed: Freed) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /**
   * `make` runs after the thread is started, because a new thread does not know the limits that were sent to an
   * earlier one.
   */
  private call(make: () => LimitCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
      const worker = (this.worker ??= this.start())
      const id = this.nextId++
      this.pending.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage(JSON.stringify({ id, call: make() } satisfies ToLimitThread))
    })
  }

  private start(): Worker {
    this.packer.begin()
    const worker = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: this.options(),
      execArgv: [],
    })
    worker.on('message', (text: string) => this.hear(JSON.parse(text) as FromLimitThread))
    worker.on('error', (error) => this.lose(worker, error))
    worker.on('exit', () => this.lose(worker, undefined))
    return worker
  }

  private hear(message: FromLimitThread): void {
    if (message === 'freed') {
      for (const listener of this.listeners) listener(undefined)
      return
    }
    const pending = this.pending.get(message.id)
    this.pending.delete(message.id)
    if (this.pending.size === 0) this.worker?.unref()
    if ('error' in message) pending?.reject(unpackError(message.error))
    else pending?.resolve(message.result)
  }

  private lose(worker: Worker, cause: unknown): void {
    if (this.worker !== worker) return
    this.worker = undefined
    for (const [id, { reject }] of this.pending) {
      this.pending.delete(id)
      const message = 'the thread that counts ended before it answered'
      // The thread may have committed before it ended.
      reject(cause instanceof CatracaError ? cause : new CatracaError('UNKNOWN_OUTCOME', message, { cause }))
    }
  }

  /** False: the thread still waits for the lock. */
  async close(): Promise<boolean> {
    if (this.waiting.length > 0) this.sendWaiting()
    this.closed = true
    const { worker } = this
    if (worker === undefined) return true
    worker.ref()
    worker.postMessage(JSON.stringify('close' satisfies ToLimitThread))
    return endOrAbandon(worker, this.gate, this.closeTimeoutMs)
  }
}
