import { later } from '../../../core/timers.js'
import type { Connection } from './connection.js'

/** Subscribing has no deadline in the client library. If it hangs, the connection is dropped. */
export async function inTime(
  promise: Promise<void>,
  ms: number,
  connection: Connection | undefined,
  reason: () => string = () => `no answer within ${ms} ms`,
): Promise<void> {
  let timer!: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = later(() => {
      reject(new Error(reason()))
      connection?.drop(`silent for ${ms} ms`)
    }, ms)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
