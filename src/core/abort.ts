import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError, isCatracaError } from './errors.js'

/*
 * Abort means the same in every guard. The caller no longer wants the result: nothing is started, a wait ends,
 * what was taken is given back, and the call rejects with ABORTED, whose cause is the abort reason. Work that
 * already runs under a guard gets its own signal, and the call ends as the work ends.
 */

/**
 * The error of an aborted call. If the reason is a CatracaError, such as LOCK_LOST, it says more and is returned
 * as it is.
 */
export function aborted({ reason }: AbortSignal, facts?: Record<string, unknown>): CatracaError {
  if (isCatracaError(reason)) return reason
  const details = { cause: reason, ...(facts !== undefined && { facts }) }
  return new CatracaError('ABORTED', 'the caller aborted the call', details)
}

export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted(signal)
}

/** Waits, unless the caller gives up. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return sleep(ms)
  // Node rejects with an error of its own.
  return sleep(ms, undefined, { signal }).catch(() => {
    throw aborted(signal)
  })
}

/** Aborts the controller when the signal aborts. Written by hand, because `AbortSignal.any` leaks memory on Node 20. */
export function follow(given: AbortSignal | undefined, controller: AbortController): () => void {
  if (given === undefined) return () => {}
  const abort = () => controller.abort(given.reason)
  if (given.aborted) abort()
  else given.addEventListener('abort', abort, { once: true })
  return () => given.removeEventListener('abort', abort)
}
