import cluster from 'node:cluster'
import { EXIT } from './failure.js'

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
    // The supervisor died: nobody would ever stop this worker.
    if (cluster.isWorker) process.on('disconnect', stop)
  })
}
