import { parentPort } from 'node:worker_threads'
import { type PackedError, packError } from '../../packed-error.js'
import type { Environment } from './environment.js'

export type Call = { id: number; store: string; verb: string; args: unknown[] } | 'close'
export type Answer = { id: number; result: unknown } | { id: number; error: PackedError }

/** In a thread that writes: does what the serving thread asks of its stores, until it is closed. */
export function serveCalls(stores: { environment: Environment }): void {
  const port = parentPort!
  const answer = async ({ id, store, verb, args }: Exclude<Call, 'close'>): Promise<void> => {
    try {
      const target = (stores as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>)[
        store
      ]!
      port.postMessage({ id, result: await target[verb]!(...args) } satisfies Answer)
    } catch (error) {
      port.postMessage({ id, error: packError(error) } satisfies Answer)
    }
  }
  port.on('message', (call: Call) => {
    if (call !== 'close') void answer(call)
    else void stores.environment.close().then(() => port.close())
  })
}
