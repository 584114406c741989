import type { TestContext } from 'node:test'

const STEP_MS = 10

/** From now on time stands still, for timers and for deadlines; the function that this returns lets some of it pass. */
export function fakeTime(t: TestContext): (ms: number) => Promise<void> {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  return async (ms) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      now += STEP_MS
      t.mock.timers.tick(STEP_MS)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
