import { parentPort, workerData } from 'node:worker_threads'
import { type PackedError, packError } from '../../packed-error.js'
import type { EnvironmentOptions } from './environment.js'
import { openStores, type Stores } from './stores.js'

/**
 * The thread that writes. LMDB has one write lock for all processes, and waiting for it blocks: if somebody
 * holds it and is stopped, only writes wait, and the thread that answers checks does not.
 */
export type Call = { id: number; store: keyof Stores; verb: string; args: unknown[] } | 'close'
export type Answer = { id: number; result: unknown } | { id: number; error: PackedError }

const port = parentPort!
const stores = openStores(workerData as EnvironmentOptions)

async function answer({ id, store, verb, args }: Exclude<Call, 'close'>): Promise<void> {
  try {
    const target = stores[store] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    port.postMessage({ id, result: await target[verb]!(...args) } satisfies Answer)
  } catch (error) {
    port.postMessage({ id, error: packError(error) } satisfies Answer)
  }
}

port.on('message', (call: Call) => {
  if (call !== 'close') void answer(call)
  else void stores.environment.close().then(() => port.close())
})
