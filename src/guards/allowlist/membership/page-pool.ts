import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { CatracaError } from '../../../core/errors.js'
import { startThread } from '../../../core/thread-files.js'
import type { EncodedPage } from './page.js'
import { type PageKind, PageMaker } from './page-maker.js'
import type { Bucket } from './partition.js'

/** Per thread, one bucket in progress and one waiting, so that it is never idle and uses little memory. */
const LANES_PER_THREAD = 2

interface Finished {
  lane: number
  pages: EncodedPage[]
}

/**
 * Makes pages on several threads, including the calling one, so no latency-critical work may run there. The other
 * threads need some tens of milliseconds to start: open the pool before adding customers. Hashes and pages are
 * copied between threads, not transferred: the first transferred buffer makes V8 drop all its compiled code for
 * typed arrays, which costs far more than the copies.
 */
export class PagePool {
  private readonly maker: PageMaker
  private readonly others: PageThread[]

  constructor(kind: PageKind, threads: number) {
    this.maker = new PageMaker(kind)
    this.others = Array.from({ length: threads - 1 }, () => new PageThread(kind))
  }

  /** The pages of all buckets, in any order. Rejects if a thread fails. */
  async *make(buckets: Iterable<Bucket>): AsyncGenerator<EncodedPage, void, undefined> {
    const source = buckets[Symbol.iterator]()
    const running = new Map<number, Promise<Finished>>()
    const finished: Finished[] = []
    const start = (lane: number): void => {
      const next = source.next()
      if (next.done) return
      const work = this.others[lane % this.others.length]!.make(next.value).then((pages) => ({ lane, pages }))
      // The caller that awaits `work` gets its failure. This second promise must not become an unhandled rejection.
      work.then((result) => finished.push(result)).catch(() => undefined)
      running.set(lane, work)
    }
    for (let lane = 0; lane < this.others.length * LANES_PER_THREAD; lane++) start(lane)
    for (;;) {
      for (const { lane, pages } of finished.splice(0)) {
        running.delete(lane)
        start(lane)
        yield* pages
      }
      const own = source.next()
      if (!own.done) {
        yield* this.maker.make(own.value)
        // Lets the messages of the other threads arrive.
        await setImmediate()
      } else if (running.size > 0) {
        await Promise.race(running.values())
      } else {
        return
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.others.map((thread) => thread.close()))
  }
}

interface PendingPage {
  resolve(pages: EncodedPage[]): void
  reject(error: unknown): void
}

class PageThread {
  private readonly worker: Worker
  /** Responses arrive in the order of the requests. */
  private readonly waiting: PendingPage[] = []
  private failure: unknown

  constructor(kind: PageKind) {
    this.worker = startThread(new URL('./page-worker.js', import.meta.url), kind)
    this.worker.on('message', (pages: EncodedPage[]) => this.answer(pages))
    this.worker.on('error', (cause) => {
      this.fail(
        new CatracaError('INTERNAL', `A thread could not build its page: ${cause.message}`, { cause }),
      )
    })
    this.worker.on('exit', () => this.fail(new CatracaError('CLOSED', 'The thread that builds pages exited')))
    this.worker.unref()
  }

  make(bucket: Bucket): Promise<EncodedPage[]> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure)
      this.waiting.push({ resolve, reject })
      this.worker.ref()
      this.worker.postMessage(bucket)
    })
  }

  private answer(pages: EncodedPage[]): void {
    this.waiting.shift()?.resolve(pages)
    // An idle thread must not keep the process alive.
    if (this.waiting.length === 0) this.worker.unref()
  }

  private fail(error: unknown): void {
    this.failure ??= error
    for (const waiting of this.waiting.splice(0)) waiting.reject(this.failure)
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }
}
