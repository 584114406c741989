import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.js'
import { packError } from '../../core/packed-error.js'
import type { FullEngine } from '../../engines/engine.js'
import { openEngine } from '../../engines/registry.js'
import { runImport } from '../../guards/allowlist/import/pipeline.js'
import { CHUNKS_IN_FLIGHT, type FromWorker, type ImportTask, type ToWorker } from './import-channel.js'

/** The thread of one import: parses, sorts and stores, while the serving thread continues to answer checks. */
const port = parentPort!
const task = workerData as ImportTask
const say = (message: FromWorker): void => port.postMessage(message)
const stop = new AbortController()

const waiting: ToWorker[] = []
let wake: () => void = () => {}
port.on('message', (message: ToWorker) => {
  if (message.type === 'abort') stop.abort()
  else waiting.push(message)
  wake()
})

async function* body(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < CHUNKS_IN_FLIGHT; i++) say({ type: 'pull' })
  for (;;) {
    const message = waiting.shift()
    if (message === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    } else if (message.type === 'chunk') {
      say({ type: 'pull' })
      yield message.bytes
    } else if (message.type === 'broken') {
      throw new Error(message.message)
    } else {
      return
    }
  }
}

async function main(): Promise<void> {
  let engine: FullEngine | undefined
  try {
    engine = await openEngine(task.source)
    const result = await runImport({
      ...task,
      bulk: engine.allowlists.bulk,
      members: engine.allowlists.members,
      body: body(),
      options: {
        ...task.options,
        signal: stop.signal,
        onProgress: (progress) => say({ type: 'progress', progress }),
      },
      clock: { now: () => systemClock.now() + task.clockOffsetMs },
    })
    say({ type: 'done', result })
  } catch (error) {
    say({ type: 'failed', error: packError(error) })
  } finally {
    await engine?.close()
    port.close()
  }
}

await main()
