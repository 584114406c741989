import cluster from 'node:cluster'
import { later } from '../../../core/timers.js'
import { EXIT } from '../../output/failure.js'
import { isStop } from '../../workers/connections.js'

/** What is left of the time to stop is never less than this for the stores. */
const LEAST_MS = 1_000

/** When a stop has to be over that begins now. */
export const stopBy = (timeoutMs: number): number => performance.now() + timeoutMs

/**
 * Closes what a stopping process has open. A store that does not answer is not waited for beyond the time of the stop:
 * the process then ends as it is, which every store has to survive anyway.
 */
export async function closeInTime(
  close: () => Promise<unknown>,
  byMs: number,
  tell: (message: string) => void,
): Promise<void> {
  const timer = later(
    () => {
      tell(
        'the stores were not closed in time (server.shutdownTimeoutMs): the process exits without closing them',
      )
      process.exit(EXIT.failure)
    },
    Math.max(LEAST_MS, byMs - performance.now()),
  )
  await close().finally(() => clearTimeout(timer))
}

/** The first signal asks for a stop in good order; the second one, by an impatient person, stops at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      // In a terminal ^C reaches a worker twice: by itself and through the process that supervises it.
      if (isStopping && !cluster.isWorker) process.exit(EXIT.failure)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    if (!cluster.isWorker) return
    process.on('message', (message) => isStop(message) && stop())
    // The supervisor died: nobody would ever stop this worker.
    process.on('disconnect', stop)
  })
}
