import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EngineCalls, outcomeOf } from '../../src/app/engine-calls.js'
import { Tracing } from '../../src/app/tracing.js'
import { watchedPorts } from '../../src/app/watched-engine.js'
import { checkSuite } from '../../src/conformance/allowlist/checks.js'
import { memberSuite } from '../../src/conformance/allowlist/members.js'
import { accessSuites, limitSuites, register } from '../../src/conformance/index.js'
import { CatracaError, invalid } from '../../src/core/errors.js'
import type { EnginePorts } from '../../src/engines/engine.js'
import { openEngine, storeSource } from '../../src/engines/registry.js'
import { ViewChanged } from '../../src/guards/allowlist/port.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'

/** A watched engine is the same engine: it passes the suites of those that are not watched. */
let redis: RedisServers
before(async () => {
  redis = await startSingle()
})
after(() => redis.stop())

const watched = async (store: string) => {
  const calls = new EngineCalls()
  const plain = await openEngine(storeSource(store, { redis: { staleAfterMs: 3000 } }))
  return { plain, calls, engine: watchedPorts(plain, { calls, tracing: new Tracing(true) }) }
}

async function openPair<Port>(port: (engine: EnginePorts) => Port) {
  await redis.flush()
  const engines = [await watched(redis.storeUrl), await watched(redis.storeUrl)] as const
  return {
    one: port(engines[0].engine),
    two: port(engines[1].engine),
    async close() {
      for (const { plain } of engines) await plain.close()
    },
  }
}

const runner = { describe, it, after }
for (const suite of [memberSuite, checkSuite])
  register(runner, 'watched', suite, () => openPair((of) => of.allowlists))
for (const suite of accessSuites) register(runner, 'watched', suite, () => openPair((of) => of.keys))
for (const suite of limitSuites.configs)
  register(runner, 'watched', suite, () => openPair((of) => of.limits.configs))
for (const suite of limitSuites.usage)
  register(runner, 'watched', suite, () => openPair((of) => of.limits.usage))

describe('a watched engine', () => {
  it('has every member of every port, and values as they are', async (t) => {
    for (const store of ['memory:', redis.storeUrl]) {
      const { plain, engine } = await watched(store)
      t.after(() => plain.close())
      assert.equal(engine.locks.pollMs, plain.locks.pollMs)
      assert.equal(engine.cache.maxValueBytes, plain.cache.maxValueBytes)
      assert.equal(engine.idempotency.maxResponseBytes, plain.idempotency.maxResponseBytes)
      assert.equal(engine.allowlists.changes.isImmediate, plain.allowlists.changes.isImmediate)
      engine.tokens.watch(() => {})()
      engine.cache.watch(() => {})()
      for await (const part of engine.tokens.all(Date.now())) assert.deepEqual(part, [])
    }
  })

  it('leaves what the embedded engine answers at once as it is', async (t) => {
    const { plain, engine, calls } = await watched('memory:')
    t.after(() => plain.close())
    assert.equal(engine.allowlists.checks, plain.allowlists.checks)
    assert.equal(engine.allowlists.changes, plain.allowlists.changes)
    await engine.keys.list()
    const list = calls.of('embedded', 'keys', 'list')
    assert.deepEqual([list.outcomes.ok, list.durations.count], [1, 1])
    assert.equal(engine.allowlists.index.version({ id: 'x', incarnation: 1 }), undefined)
    const version = calls.of('embedded', 'allowlists', 'index.version')
    assert.deepEqual([version.outcomes.ok, version.durations.count], [1, 0], 'without a look at the clock')
  })

  it('gives out the same views again and again', async (t) => {
    const { plain, engine } = await watched(redis.storeUrl)
    t.after(() => plain.close())
    const { checks } = engine.allowlists
    assert.equal(checks.view(undefined), checks.view(undefined))
    assert.notEqual(checks.view(undefined), checks.view('strong'))
    assert.throws(() => checks.view({ atLeast: 'nonsense' }), { code: 'INVALID_INPUT' })
  })

  it('tells by an error how a call ended', () => {
    const late = Object.assign(new Error('late'), { name: 'TimeoutError' })
    const unavailable = (cause?: Error) => new CatracaError('ENGINE_UNAVAILABLE', 'away', { cause })
    assert.deepEqual(
      [
        unavailable(),
        unavailable(late),
        new CatracaError('UNKNOWN_OUTCOME', 'who knows', { cause: late }),
        invalid('token', 'is wrong'),
        new ViewChanged(),
        new CatracaError('STORE_FULL', 'full'),
        new TypeError('a mistake'),
      ].map(outcomeOf),
      ['unavailable', 'timeout', 'unknown_outcome', 'ok', 'ok', 'error', 'error'],
    )
  })
})
