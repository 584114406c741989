import assert from 'node:assert/strict'

/**
 * Settles like the call, and fails when a timer of this process ends before the call does. Deadlines of the product are
 * timers of the same process: when the machine is busy all of them are late, but their order stays.
 */
export async function inTime<T>(call: Promise<T>, ms: number, name = 'the call'): Promise<T> {
  let timer!: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${name} took over ${ms} ms` })), ms)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}
