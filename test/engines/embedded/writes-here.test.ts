import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openCatraca } from '../../../src/app/open-catraca.js'
import { cacheSuites, idempotencySuites, limitSuites, register } from '../../../src/conformance/index.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { embeddedPairs } from '../../support/embedded-pair.js'
import { PATIENCE_MS } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

// Temporary stores and threads of an instance write on the calling thread.
const openPair = embeddedPairs({ writes: 'here' })
const runner = { describe, it, after }
for (const suite of limitSuites.counters)
  register(runner, 'embedded, writes here', suite, () => openPair((engine) => engine.limits.counters))
for (const suite of idempotencySuites)
  register(runner, 'embedded, writes here', suite, () => openPair((engine) => engine.idempotency))
for (const suite of cacheSuites)
  register(runner, 'embedded, writes here', suite, () => openPair((engine) => engine.cache))

describe('a temporary store', () => {
  it('starts no thread for limits, locks, records and cached values', async () => {
    let threads = 0
    const count = () => {
      threads++
    }
    process.on('worker', count)
    const catraca = await openCatraca({ store: 'memory:', sweepIntervalMs: 0 })
    try {
      await catraca.limits.setConfig(
        { level: 'system', resource: 'api' },
        { limits: { rpm: { capacity: 2, refillPeriodSeconds: 3600 } } },
      )
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => catraca.limits.acquire({ entity: 'user', resource: 'api' })),
      )
      assert.equal(answers.filter(({ allowed }) => allowed).length, 2)
      assert.equal(await catraca.locks.withLock('name', { ttlMs: 30_000 }, async () => 'done'), 'done')
      const run = () => catraca.idempotency.run({ operation: 'PAY', key: 'one' }, async () => 7)
      assert.deepEqual([(await run()).outcome, (await run()).outcome], ['executed', 'replayed'])
      const space = catraca.cache.space({ name: 'space', ttlMs: 60_000 })
      await space.set('key', 'value')
      assert.equal(await space.get('key'), 'value')
      assert.equal(threads, 0)
    } finally {
      process.removeListener('worker', count)
      await catraca.close()
    }
  })
})

describe('a store with nothing to delete', () => {
  it('starts no writer thread for its sweeps, until there is something', async () => {
    let threads = 0
    const count = () => {
      threads++
    }
    const directory = temporaryDirectory()
    const engine = openEmbedded({ directory, writeTimeoutMs: PATIENCE_MS })
    process.on('worker', count)
    try {
      const { codes, tokens, audit, locks, allowlists } = engine
      const all = (now: number) =>
        Promise.all([codes, tokens, audit, locks, allowlists.upkeep].map((store) => store.sweep(now)))
      await all(Date.now())
      assert.equal(threads, 0)
      const token = { kind: 'token', id: 'one', expiresAt: 1000 } as const
      await tokens.revoke([token], 500)
      const rows = await all(2000)
      assert.deepEqual(
        rows.map(({ more }) => more),
        [false, false, false, false, false],
      )
      assert.equal(threads, 1)
    } finally {
      process.removeListener('worker', count)
      await engine.close()
    }
  })
})
