import { isPromise } from './maybe-promise.js'

type Report = (error: unknown) => void

/** Who owns the process tells it in its own log; a library can only warn. */
let report: Report = (error) => {
  const { message = String(error), stack = '' } = error instanceof Error ? error : {}
  process.emitWarning(`background work failed: ${message}`, { type: 'CatracaWarning', detail: stack })
}

/** Where failures of background work are told from now on. */
export function tellFailuresTo(told: Report): void {
  report = told
}

/**
 * Makes a callback that nobody waits for safe: an error that it throws, or with which its promise rejects, would end the
 * process. It is told instead, once until the callback works again, since most of these run every second.
 */
export function guarded<A extends unknown[]>(work: (...args: A) => unknown): (...args: A) => void {
  let isFailing = false
  const worked = () => {
    isFailing = false
  }
  const failed = (error: unknown) => {
    if (!isFailing) tellFailure(error)
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

export function tellFailure(error: unknown): void {
  try {
    report(error)
  } catch {
    // There is nobody left to tell.
  }
}

/** `setInterval`, safe as `guarded` says. */
export function every(work: () => unknown, ms: number): NodeJS.Timeout {
  return setInterval(guarded(work), ms)
}

/** `setTimeout`, safe as `guarded` says. */
export function later(work: () => unknown, ms: number): NodeJS.Timeout {
  return setTimeout(runOnce, ms, work)
}

/** `setImmediate`, safe as `guarded` says. */
export function soon(work: () => unknown): void {
  setImmediate(runOnce, work)
}

/** One function for all of them, because some calls set a timer each. */
function runOnce(work: () => unknown): void {
  try {
    const done = work()
    if (isPromise(done)) done.catch(tellFailure)
  } catch (error) {
    tellFailure(error)
  }
}
