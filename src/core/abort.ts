import { CatracaError, isCatracaError } from './errors.js'

/*
 * To abort means the same in every guard. The caller wants no answer any more: nothing is begun, a wait ends, what was
 * taken is given back, and the call rejects with ABORTED, whose cause is the reason of the signal. Work that has begun
 * under a guard is told by its own signal; how it then ends is how the call ends.
 */

/** What a caller hears who gave a call up. A reason of our own, such as LOCK_LOST, says more, and is told as it is. */
export function aborted({ reason }: AbortSignal, facts?: Record<string, unknown>): CatracaError {
  if (isCatracaError(reason)) return reason
  const details = { cause: reason, ...(facts !== undefined && { facts }) }
  return new CatracaError('ABORTED', 'the caller aborted the call', details)
}

export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted(signal)
}

/** Aborts the controller with the signal. By hand: what `AbortSignal.any` makes is never forgotten on Node 20. */
export function follow(given: AbortSignal | undefined, controller: AbortController): () => void {
  if (given === undefined) return () => {}
  const abort = () => controller.abort(given.reason)
  if (given.aborted) abort()
  else given.addEventListener('abort', abort, { once: true })
  return () => given.removeEventListener('abort', abort)
}
