import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Environment } from '../../src/engines/embedded/environment.js'
import { createGate } from '../../src/engines/embedded/exit-gate.js'
import { temporaryDirectory } from '../support/temporary.js'

it('an environment closes only when nothing is on its way to the disk', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  for (let round = 0; round < 5; round++) {
    const directory = temporaryDirectory()
    const limits = { minFreeBytes: 0, maxSizeBytes: Number.POSITIVE_INFINITY, maxLogBytes: 1024 }
    const environment = Environment.open({
      directory,
      isShared: true,
      gate: createGate(),
      durability: 'process',
      ...limits,
    })
    environment.writeNow(() => {
      for (let i = 0; i < 10_000; i++) environment.settings.putSync(`key-${i}`, 'x'.repeat(800))
    })
    // The sync of every second begins; closing under it has crashed the process.
    t.mock.timers.tick(1000)
    await environment.close()
  }
  assert.ok(true, 'the process is alive')
})
