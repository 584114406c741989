import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import {
  accessSuites,
  allowlistSuites,
  idempotencySuites,
  limitSuites,
  register,
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
for (const suite of limitSuites.counters)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.counters))
for (const suite of limitSuites.configs)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.configs))
for (const suite of limitSuites.usage)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.limits.usage))
for (const suite of idempotencySuites)
  register(runner, 'embedded', suite, () => openPair((engine) => engine.idempotency))
