import { PATIENCE_MS } from './patient.js'

/** A failure that ends the wait: what is waited for cannot come any more. */
export class Fatal extends Error {}

/**
 * Waits for something that another thread or process brings about. A question that fails counts as "not yet".
 */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const giveUpMs = performance.now() + withinMs
  let failure = ''
  // Soon at first, then seldom: whoever is asked needs the processor for what is waited for.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    try {
      if (await isSo()) return
    } catch (error) {
      if (error instanceof Fatal) throw error
      failure = ` (${error instanceof Error ? error.message : error})`
    }
    if (performance.now() > giveUpMs) throw new Error(`not within ${withinMs} ms: ${what}${failure}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
