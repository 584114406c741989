import type { Worker } from 'node:worker_threads'
import type { Listing } from '../../../core/listing.js'
import { unpackError } from '../../../core/packed-error.js'
import { startThread } from '../../../core/thread-files.js'
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
import { ThreadLink } from '../lmdb/thread-link.js'
import type { SubjectListing } from './counters.js'
import type {
  AnswersFromLimitThread,
  LimitCall,
  TakesToLimitThread,
  TextFromLimitThread,
  TextToLimitThread,
} from './thread.js'
import { rejectAll, TurnTakes, type WaitingTake } from './turn-takes.js'
import { AnswerReader, type PackedAnswers, QuestionPacker } from './wire.js'

/**
 * With more takes in a message, one thread would wait for the other. With fewer, the commits would cost more than the
 * takes.
 */
const TAKES_PER_MESSAGE = 32

/** The serving thread's proxy of the counter thread. The first call starts the thread. */
export class LimitLink implements LimitStore {
  private readonly link = new ThreadLink('counter', () => this.start())
  private readonly takes = new TurnTakes((takes) => this.sendInParts(takes))
  private readonly packer = new QuestionPacker()
  private readonly listeners = new Set<(freed: Freed) => void>()

  constructor(
    private readonly options: () => EnvironmentOptions,
    private readonly gate: ExitGate,
    private readonly closeTimeoutMs: number,
  ) {}

  /** The calls of one event-loop turn share a message and a transaction. */
  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    return this.takes.take(subjects, now)
  }

  private sendInParts(takes: WaitingTake[]): void {
    for (let from = 0; from < takes.length; from += TAKES_PER_MESSAGE) {
      this.sendTakes(takes.slice(from, from + TAKES_PER_MESSAGE))
    }
  }

  private sendTakes(takes: WaitingTake[]): void {
    this.link
      .send((id) => ({ id, takes: this.packer.pack(takes) }) satisfies TakesToLimitThread)
      .then(
        (answers) => {
          const reader = new AnswerReader(answers as PackedAnswers)
          for (const take of takes) take.resolve(reader.next(take))
        },
        (error) => rejectAll(takes, error),
      )
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.call({ verb: 'adjust', lease, adjustment, now }) as Promise<LeaseOutcome>
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.call({ verb: 'giveBack', lease, now }) as Promise<LeaseOutcome>
  }

  list(request: SubjectListing): Promise<Listing<Subject>> {
    return this.call({ verb: 'list', request }) as Promise<Listing<Subject>>
  }

  reset(subject: Subject): Promise<boolean> {
    return this.call({ verb: 'reset', subject }) as Promise<boolean>
  }

  /** Without a thread, nothing was ever denied here and there is nothing to sweep. */
  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    if (!this.link.isStarted) return { swept: 0, more: false }
    return this.call({ verb: 'sweep', now }) as Promise<{ swept: number; more: boolean }>
  }

  watch(listener: (freed: Freed) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  private call(call: LimitCall): Promise<unknown> {
    return this.link.send((id) => JSON.stringify({ id, call } satisfies TextToLimitThread))
  }

  private start(): Worker {
    this.packer.begin()
    const worker = startThread(new URL('./thread.js', import.meta.url), this.options())
    worker.on('message', (message: string | AnswersFromLimitThread) => {
      if (typeof message === 'string') this.hear(JSON.parse(message) as TextFromLimitThread)
      else this.link.take(message.id)?.resolve(message.answers)
    })
    return worker
  }

  private hear(message: TextFromLimitThread): void {
    if (message === 'freed') {
      for (const listener of this.listeners) listener(undefined)
      return
    }
    const pending = this.link.take(message.id)
    if ('error' in message) pending?.reject(unpackError(message.error))
    else pending?.resolve(message.result)
  }

  /** False: the thread still waits for the lock. */
  close(): Promise<boolean> {
    this.takes.flush()
    const message = JSON.stringify('close' satisfies TextToLimitThread)
    return this.link.close(message, this.gate, this.closeTimeoutMs)
  }
}
