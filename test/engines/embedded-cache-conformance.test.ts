import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { cacheSuites, register } from '../../src/conformance/index.js'
import { openEmbedded } from '../../src/engines/embedded/index.js'

async function openPair() {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-test-'))
  const engines = [openEmbedded({ directory }), openEmbedded({ directory })] as const
  return {
    one: engines[0].cache,
    two: engines[1].cache,
    async close() {
      for (const engine of engines) await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

for (const suite of cacheSuites) register({ describe, it, after }, 'embedded', suite, openPair)
