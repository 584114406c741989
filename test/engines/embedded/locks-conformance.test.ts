import { after, describe, it } from 'node:test'
import { type LockScene, lockSuites, register } from '../../../src/conformance/index.js'
import { NOW } from '../../../src/conformance/support.js'
import { FENCE_KEPT_MS } from '../../../src/guards/lock/port.js'
import { embeddedPairs } from '../../support/embedded-pair.js'

const openPair = embeddedPairs()

/** The store goes by the time that callers give. */
async function openScenes() {
  let now = NOW
  return openPair(
    ({ locks }): LockScene => ({
      locks,
      now: () => now,
      async elapse(ms) {
        now += ms
      },
      async lose() {
        await locks.sweep(now + 2 * FENCE_KEPT_MS)
      },
    }),
  )
}

for (const suite of lockSuites) register({ describe, it, after }, 'embedded', suite, openScenes)
