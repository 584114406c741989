import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.js'
import { packError } from '../../core/packed-error.js'
import { buildIndex } from '../../guards/allowlist/membership/build.js'
import { openEngine, type StoreEngine } from '../open-engine.js'
import type { BuildMessage, BuildTask } from './index-channel.js'

/** The thread of one build: reads the members, hashes them and writes pages. */
const port = parentPort!
const task = workerData as BuildTask
const say = (message: BuildMessage): void => port.postMessage(message)
const stop = new AbortController()
port.once('message', () => stop.abort())

async function build(): Promise<BuildMessage> {
  let engine: StoreEngine | undefined
  try {
    engine = await openEngine(task.engine)
    const { lists, index, changes } = engine.allowlists
    const list = await lists.get(task.listId)
    if (list?.incarnation !== task.incarnation) return { type: 'done', outcome: 'gone' }
    const { outcome } = await buildIndex({
      index,
      changes,
      list,
      full: task.full,
      threads: task.threads,
      leaseMs: task.leaseMs,
      clock: systemClock,
      signal: stop.signal,
    })
    return { type: 'done', outcome }
  } catch (error) {
    return { type: 'failed', error: packError(error) }
  } finally {
    await engine?.close()
  }
}

say(await build())
port.close()
