import { isPromise } from './maybe-promise.js'

/** How often what has expired is removed from the stores. */
export const DEFAULT_SWEEP_INTERVAL_MS = 10_000

type Report = (error: unknown) => void

/** A server reports to its own log; a library can only emit a warning. */
let report: Report = (error) => {
  const { message = String(error), stack = '' } = error instanceof Error ? error : {}
  process.emitWarning(`background work failed: ${message}`, { type: 'CatracaWarning', detail: stack })
}

/** Sets the receiver of background failures. */
export function reportFailuresTo(told: Report): void {
  report = told
}

/**
 * Makes a callback safe that no caller awaits: an error or a rejection would end the process. It is reported
 * instead, once until the callback succeeds again, because most of these callbacks run every second.
 */
export function guarded<A extends unknown[]>(work: (...args: A) => unknown): (...args: A) => void {
  let isFailing = false
  const worked = () => {
    isFailing = false
  }
  const failed = (error: unknown) => {
    if (!isFailing) reportFailure(error)
    isFailing = true
  }
  return (...args) => {
    try {
      const done = work(...args)
      if (isPromise(done)) done.then(worked, failed)
      else worked()
    } catch (error) {
      failed(error)
    }
  }
}

export function reportFailure(error: unknown): void {
  try {
    report(error)
  } catch {
    // No further way to report it.
  }
}

/** `setInterval` with a `guarded` callback. */
export function every(work: () => unknown, ms: number): NodeJS.Timeout {
  return setInterval(guarded(work), ms)
}

/** `setTimeout` with a safe callback, as in `guarded`. */
export function later(work: () => unknown, ms: number): NodeJS.Timeout {
  return setTimeout(runOnce, ms, work)
}

/** `setImmediate` with a safe callback, as in `guarded`. */
export function soon(work: () => unknown): void {
  setImmediate(runOnce, work)
}

/** One shared function, because some calls set a timer each. */
function runOnce(work: () => unknown): void {
  try {
    const done = work()
    if (isPromise(done)) done.catch(reportFailure)
  } catch (error) {
    reportFailure(error)
  }
}
