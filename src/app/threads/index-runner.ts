import type { Worker } from 'node:worker_threads'
import { CatracaError } from '../../core/errors.js'
import { unpackError } from '../../core/packed-error.js'
import { startThread } from '../../core/thread-files.js'
import type { StoreSource } from '../../engines/engine.js'
import type { ListRef } from '../../guards/allowlist/changes/port.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import type { BuildMessage, BuildResult, BuildTask } from './index-channel.js'

interface Surroundings extends Pick<BuildTask, 'leaseMs' | 'threads'> {
  /** How a thread opens the store. */
  source: (() => StoreSource) | undefined
  port: AllowlistEngine
}

/**
 * Builds indexes one at a time, because a build uses all the cores it is given. Each is built in a thread, or in this
 * one if no other can open the store.
 */
export class IndexBuilds {
  private queue: Promise<unknown> = Promise.resolve()
  private readonly running = new Set<Worker>()
  private readonly stop = new AbortController()

  constructor(private readonly surroundings: Surroundings) {}

  build(list: ListRef, full: boolean): Promise<BuildResult> {
    const { source, port, ...own } = this.surroundings
    const task = { ...own, listId: list.id, incarnation: list.incarnation, full }
    const { signal } = this.stop
    const result = this.queue.then(async () => {
      if (signal.aborted) throw new CatracaError('CLOSED', 'this instance was closed')
      if (source !== undefined) return this.runInThread({ ...task, source: source() })
      const { buildList } = await import('./build-list.js')
      return buildList(port, task, signal)
    })
    this.queue = result.catch(() => {})
    return result
  }

  private async runInThread(task: BuildTask): Promise<BuildResult> {
    const worker = startThread(new URL('./index-worker.js', import.meta.url), task)
    this.running.add(worker)
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    try {
      return await new Promise<BuildResult>((resolve, reject) => {
        worker.on('message', (message: BuildMessage) => {
          if (message.type === 'done') resolve(message.outcome)
          else reject(unpackError(message.error))
        })
        worker.on('error', reject)
        worker.on('exit', () =>
          reject(new CatracaError('INTERNAL', 'the thread of the index build exited without an error')),
        )
      })
    } finally {
      await exited
      this.running.delete(worker)
    }
  }

  /** Stops running builds. The old snapshots stay in use. */
  async close(): Promise<void> {
    this.stop.abort()
    for (const worker of this.running) worker.postMessage('stop')
    await this.queue
  }
}
