import assert from 'node:assert/strict'

const TICK_MS = 25

/**
 * Settles like the call, and fails when the call takes longer. Only the time that this process has counts, since a tick that
 * comes late is still one tick: deadlines of the product are timers of the same process, and late for the same reasons.
 */
export async function inTime<T>(call: Promise<T>, ms: number, name = 'the call'): Promise<T> {
  let timer!: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    let ticks = Math.ceil(ms / TICK_MS)
    timer = setInterval(() => {
      if (--ticks <= 0) reject(new assert.AssertionError({ message: `${name} took over ${ms} ms` }))
    }, TICK_MS)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearInterval(timer)
  }
}
