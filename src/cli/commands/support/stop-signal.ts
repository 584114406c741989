import cluster from 'node:cluster'
import { later } from '../../../core/timers.js'
import { EXIT } from '../../output/failure.js'
import { isStop } from '../../workers/connections.js'

/** The stores always get at least this time to close. */
const LEAST_MS = 1_000

/** The deadline of a stop that starts now. */
export const stopBy = (timeoutMs: number): number => performance.now() + timeoutMs

/**
 * Closes the open stores of a stopping process. Does not wait beyond the deadline for a store that does not answer:
 * the process then exits without closing it, which every store must survive anyway.
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

/** The first signal requests an orderly stop; the second one exits at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      // In a terminal ^C reaches a worker twice: directly and through the supervisor.
      if (isStopping && !cluster.isWorker) process.exit(EXIT.failure)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    if (!cluster.isWorker) return
    process.on('message', (message) => isStop(message) && stop())
    // The supervisor died: no other process would stop this worker.
    process.on('disconnect', stop)
  })
}

/** The first signal aborts what is being done in order; the second one exits at once. */
export function onInterrupt(signals: readonly NodeJS.Signals[]): { signal: AbortSignal; ignore: () => void } {
  const controller = new AbortController()
  const interrupt = () => (controller.signal.aborted ? process.exit(EXIT.failure) : controller.abort())
  for (const name of signals) process.on(name, interrupt)
  return {
    signal: controller.signal,
    ignore: () => {
      for (const name of signals) process.off(name, interrupt)
    },
  }
}
