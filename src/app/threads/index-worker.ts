import { parentPort, workerData } from 'node:worker_threads'
import { packError } from '../../core/packed-error.js'
import type { FullEngine } from '../../engines/engine.js'
import { openEngine } from '../../engines/registry.js'
import { buildList } from './build-list.js'
import type { BuildMessage, BuildTask } from './index-channel.js'

/** The thread of one build: reads the members, hashes them and writes pages. */
const port = parentPort!
const task = workerData as BuildTask
const say = (message: BuildMessage): void => port.postMessage(message)
const stop = new AbortController()
port.once('message', () => stop.abort())

async function build(): Promise<BuildMessage> {
  let engine: FullEngine | undefined
  try {
    engine = await openEngine(task.source)
    return { type: 'done', outcome: await buildList(engine.allowlists, task, stop.signal) }
  } catch (error) {
    return { type: 'failed', error: packError(error) }
  } finally {
    await engine?.close()
  }
}

say(await build())
port.close()
