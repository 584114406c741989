import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, type Worker } from 'node:worker_threads'
import { type PackedError, packError } from '../../../core/packed-error.js'
import type { Environment } from './environment.js'
import { closeGate, type ExitGate } from './exit-gate.js'

export type Call = { id: number; store: string; verb: string; args: unknown[] } | 'close'
export type Answer = { id: number; result: unknown } | { id: number; error: PackedError }

/** Runs in a writer thread: executes the store calls of the serving thread until it is closed. */
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

/**
 * Waits for a closing thread to exit, and returns whether it has. A thread that waits for the lock is not terminated:
 * it would get the lock in the end and never release it. If left alone, it releases the lock and exits.
 */
export async function endOrAbandon(worker: Worker, gate: ExitGate, timeoutMs: number): Promise<boolean> {
  const timeout = new AbortController()
  const isOver = await Promise.race([
    once(worker, 'exit').then(() => true),
    sleep(timeoutMs, false, { signal: timeout.signal }).catch(() => false),
  ])
  timeout.abort()
  if (isOver) return true
  closeGate(gate)
  worker.unref()
  return false
}
