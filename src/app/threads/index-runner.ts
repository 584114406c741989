import { Worker } from 'node:worker_threads'
import { CatracaError } from '../../core/errors.js'
import { unpackError } from '../../core/packed-error.js'
import type { ListRef } from '../../guards/allowlist/changes/port.js'
import type { BuildMessage, BuildTask } from './index-channel.js'

type Surroundings = Pick<BuildTask, 'leaseMs' | 'threads'> & { engine: () => BuildTask['engine'] }
export type BuildResult = 'built' | 'busy' | 'gone' | 'unchanged'

/** Builds indexes outside the serving thread, one at a time: a build uses all the cores it is given. */
export class IndexThreads {
  private queue: Promise<unknown> = Promise.resolve()
  private readonly running = new Set<Worker>()
  private closed = false

  constructor(private readonly surroundings: Surroundings) {}

  build(list: ListRef, full: boolean): Promise<BuildResult> {
    const engine = this.surroundings.engine()
    const task = { ...this.surroundings, engine, listId: list.id, incarnation: list.incarnation, full }
    const result = this.queue.then(() => this.run(task))
    this.queue = result.catch(() => {})
    return result
  }

  private async run(task: BuildTask): Promise<BuildResult> {
    if (this.closed) throw new CatracaError('CLOSED', 'this instance was closed')
    const worker = new Worker(new URL('./index-worker.js', import.meta.url), {
      workerData: task,
      execArgv: [],
    })
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
    this.closed = true
    for (const worker of this.running) worker.postMessage('stop')
    await this.queue
  }
}
