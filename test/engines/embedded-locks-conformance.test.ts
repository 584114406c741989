import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type LockScene, lockSuites, register } from '../../src/conformance/index.js'
import { NOW } from '../../src/conformance/support.js'
import { type EmbeddedEngine, openEmbedded } from '../../src/engines/embedded/index.js'
import { FENCE_KEPT_MS } from '../../src/lock/port.js'

/** The store goes by the time that callers give. */
async function openPair() {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  const engines = [openEmbedded({ directory }), openEmbedded({ directory })] as const
  let now = NOW
  const sceneOf = ({ locks }: EmbeddedEngine): LockScene => ({
    locks,
    now: () => now,
    async elapse(ms) {
      now += ms
    },
    async lose() {
      await locks.sweep(now + 2 * FENCE_KEPT_MS)
    },
  })
  return {
    one: sceneOf(engines[0]),
    two: sceneOf(engines[1]),
    async close() {
      for (const engine of engines) await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

for (const suite of lockSuites) register({ describe, it, after }, 'embedded', suite, openPair)
