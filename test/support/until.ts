import { PATIENCE_MS } from './patient.js'

/** Waits for something that another thread or process brings about. */
export async function until(
  what: string,
  met: () => Promise<boolean> | boolean,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + withinMs
  let pauseMs = 10
  while (!(await met())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    // Soon at first, then seldom: whoever is asked needs the processor for what is waited for.
    pauseMs = Math.min(pauseMs * 1.5, 100)
  }
}
