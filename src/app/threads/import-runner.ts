import type { Worker } from 'node:worker_threads'
import type { Clock } from '../../core/clock.js'
import { CatracaError } from '../../core/errors.js'
import { unpackError } from '../../core/packed-error.js'
import { startThread } from '../../core/thread-files.js'
import type { StoreSource } from '../../engines/engine.js'
import type { ImportJob } from '../../guards/allowlist/import/job.js'
import type { ImportRunner } from '../../guards/allowlist/index.js'
import type { BulkStore, MemberStore } from '../../guards/allowlist/port.js'
import type { ImportProgress, ImportResult } from '../../guards/allowlist/types.js'
import type { FromWorker, ImportTask, ToWorker } from './import-channel.js'

interface Surroundings extends Pick<ImportTask, 'leaseMs' | 'spillDir'> {
  /** How a thread opens the store. */
  source: (() => StoreSource) | undefined
  bulk: BulkStore
  members: Pick<MemberStore, 'remove'>
}

/** Runs each import in its own thread, or in this one if no other can open the store. Can stop them all. */
export class Imports {
  private readonly running = new Map<Promise<unknown>, AbortController>()
  private closed = false

  constructor(
    private readonly surroundings: Surroundings,
    private readonly clock: Clock,
    /** Called before a caller learns that its import is stored, so that its next read sees the import. */
    private readonly onStored: () => void,
  ) {}

  readonly run: ImportRunner = async (list, body, { signal, onProgress, ...options }) => {
    if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
    const { source, bulk, members, ...own } = this.surroundings
    const task = { ...own, listId: list.id, takesExpiry: list.precision !== 'trusted', options }
    const { clock } = this
    const clockOffsetMs = clock.now() - Date.now()
    const ways = { signal: either, ...(onProgress !== undefined && { onProgress }) }
    const running =
      source === undefined
        ? runHere({ ...task, bulk, members, body, clock, options: { ...options, ...ways } })
        : runInThread({ ...task, source: source(), clockOffsetMs }, body, either, onProgress)
    const result = running.finally(this.onStored)
    const settled: Promise<void> = result.then(
      () => {},
      () => {},
    )
    this.running.set(settled, stop)
    void settled.then(() => this.running.delete(settled))
    return result
  }

  /** Interrupts running imports. Acknowledged rows stay, and the rest can be resumed. */
  async close(): Promise<void> {
    this.closed = true
    for (const stop of this.running.values()) stop.abort()
    await Promise.all(this.running.keys())
  }
}

/** Loads what an import needs only here: most processes leave imports to threads. */
async function runHere(job: ImportJob): Promise<ImportResult> {
  const { runImport } = await import('../../guards/allowlist/import/pipeline.js')
  return runImport(job)
}

async function runInThread(
  task: ImportTask,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onProgress: ((progress: ImportProgress) => void) | undefined,
): Promise<ImportResult> {
  const worker = startThread(new URL('./import-worker.js', import.meta.url), task)
  const say = (message: ToWorker): void => worker.postMessage(message)
  const chunks = body[Symbol.asyncIterator]()
  // Pulls may arrive while a chunk is awaited. They are answered one after the other, in order.
  let feeding = Promise.resolve()
  const feed = async (): Promise<void> => {
    try {
      const next = await chunks.next()
      if (next.done) say({ type: 'end' })
      else sendChunk(worker, next.value)
    } catch (error) {
      say({ type: 'broken', message: error instanceof Error ? error.message : String(error) })
    }
  }
  const tell = (progress: ImportProgress, reject: (error: unknown) => void): void => {
    try {
      onProgress?.(progress)
    } catch (error) {
      abort()
      reject(error)
    }
  }
  const abort = (): void => say({ type: 'abort' })
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await new Promise<ImportResult>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'pull') feeding = feeding.then(feed)
        else if (message.type === 'progress') tell(message.progress, reject)
        else if (message.type === 'done') resolve(message.result)
        else reject(unpackError(message.error))
      })
      worker.on('error', reject)
      worker.on('exit', () =>
        reject(new CatracaError('INTERNAL', 'the thread of the import exited without an error')),
      )
    })
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited: a body stuck in a read would never return.
    chunks.return?.().catch(() => {})
    await new Promise((resolve) => (worker.threadId === -1 ? resolve(0) : worker.once('exit', resolve)))
  }
}

/** A chunk is often a small view of a large buffer, and sending a view would send the whole buffer. */
function sendChunk(worker: Worker, chunk: Uint8Array): void {
  const bytes = chunk instanceof Uint8Array ? new Uint8Array(chunk) : chunk
  const transferred = bytes instanceof Uint8Array ? [bytes.buffer] : []
  worker.postMessage({ type: 'chunk', bytes } satisfies ToWorker, transferred)
}
