import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import {
  accessSuites,
  allowlistSuites,
  limitSuites,
  register,
  type Suite,
} from '../../src/conformance/index.js'
import { type EmbeddedEngine, openEmbedded } from '../../src/engines/embedded/index.js'

async function openPair<Port>(port: (engine: EmbeddedEngine) => Port) {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  const engines = [openEmbedded({ directory }), openEmbedded({ directory })] as const
  return {
    one: port(engines[0]),
    two: port(engines[1]),
    async close() {
      for (const engine of engines) await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const runner = { describe, it, after }
for (const suite of allowlistSuites)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.allowlists))
for (const suite of accessSuites) register(runner, 'embedded', suite, () => openPair((engine) => engine.keys))
for (const part of ['counters', 'configs', 'usage'] as const) {
  // Each part has a suite of its own type.
  const suite = limitSuites[part] as Suite<unknown>
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits[part] as unknown))
}
