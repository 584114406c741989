import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { type Catraca, type Engine, openCatraca, type RateLimits } from '../../src/index.js'
import { metricsOf } from '../../src/metrics/index.js'
import { startServer } from '../../src/server/index.js'

/** An engine that somebody else made, on a real store. It counts how often it was closed. */
function locksOnly(t: TestContext) {
  const store = openEmbedded()
  t.after(() => store.close())
  const closed = { times: 0 }
  const engine = {
    name: 'own',
    locks: store.locks,
    health: () => ({ answer: 42 }),
    async close() {
      closed.times++
    },
  } satisfies Engine
  return { engine, closed }
}

const refused = (message: string | RegExp) => ({ code: 'CONFIG_INVALID', message })

describe('an engine that somebody else made', () => {
  it('has the guards whose ports it offers, and no others', async (t) => {
    const { engine, closed } = locksOnly(t)
    const catraca = await openCatraca({ engine })
    const first = await catraca.locks.acquire('a')
    const second = await catraca.locks.acquire('a')
    assert.deepEqual([first.acquired, second.acquired], [true, false])
    // @ts-expect-error: the engine may not offer limits.
    assert.throws(() => catraca.limits.stats(), TypeError)
    const limits: RateLimits | undefined = catraca.limits
    assert.deepEqual([limits, catraca.allowlists, catraca.audit, catraca.stats], Array(4).fill(undefined))
    assert.equal(catraca.store, 'own')
    assert.deepEqual(await catraca.health(), {
      status: 'healthy',
      engines: [{ name: 'own', store: 'own', status: 'healthy', answer: 42 }],
    })
    await catraca.ready
    await catraca.upkeep()
    await catraca.close()
    await catraca.close()
    assert.equal(closed.times, 1)
  })

  it('is counted and shown like any other', async (t) => {
    const catraca = await openCatraca({ engine: locksOnly(t).engine })
    t.after(() => catraca.close())
    await catraca.locks.acquire('a')
    const text = await metricsOf(catraca).metrics()
    assert.match(
      text,
      /catraca_engine_calls_total\{engine="own",capability="locks",verb="acquire",outcome="ok"\} 1/,
    )
    assert.match(text, /catraca_lock_acquires_total/)
    assert.doesNotMatch(text, /catraca_limit_decisions_total|catraca_index_lists/)
  })

  it('is refused, by name, when options ask for a guard that it does not offer', async (t) => {
    const { engine, closed } = locksOnly(t)
    await assert.rejects(
      openCatraca({ engine, limits: { timeoutMs: 500 }, membership: { build: 'off' }, audit: {} }),
      refused(
        'engine own does not offer allowlists (which membership configures), limits, audit: it offers locks',
      ),
    )
    const codes = { pepper: 'a long enough secret' }
    await assert.rejects(openCatraca({ engine, codes }), refused(/codes, limits \(which count attempts/))
    await assert.rejects(openCatraca({ engine, codes: { ...codes, store: 'memory:' } }), refused(/own does/))
    const catraca = await openCatraca({ engine, audit: { enabled: false }, locks: { timeoutMs: 500 } })
    assert.equal(closed.times, 0, 'a refused engine stays with its maker')
    await catraca.close()
  })

  it('is refused, by name, when a port is not complete', async (t) => {
    const { engine } = locksOnly(t)
    const { acquire, release, read, pollMs } = engine.locks
    const locks = { acquire, release, read, pollMs } as unknown as Engine['locks'] & object
    await assert.rejects(
      openCatraca({ engine: { ...engine, locks } }),
      refused('engine own lacks locks.extend, locks.list, locks.remove, locks.watch, locks.sweep'),
    )
    const limits = { configs: {} } as unknown as Engine['limits'] & object
    await assert.rejects(
      openCatraca({ engine: { ...engine, limits } }),
      refused(/^engine own lacks limits\.counters, limits\.configs\.list, .*limits\.usage$/),
    )
  })

  it('is refused when it is none', async (t) => {
    const { locks: _, ...empty } = locksOnly(t).engine
    await assert.rejects(
      openCatraca({ engine: empty }),
      refused(/^engine own offers no guard: there is allow/),
    )
    const nothing = {} as Engine
    await assert.rejects(openCatraca({ engine: nothing }), refused(/must be an object with name, health/))
    const both = { ...locksOnly(t), store: 'memory:' }
    await assert.rejects(
      openCatraca({ engine: both.engine, ...{ store: both.store } }),
      refused(/with store/),
    )
  })

  it('leaves other guards to stores of their own', async (t) => {
    const { engine, closed } = locksOnly(t)
    const elsewhere = { store: 'memory:' }
    const catraca = await openCatraca({ engine, limits: elsewhere, codes: elsewhere, audit: elsewhere })
    t.after(() => catraca.close())
    const perMinute = { capacity: 1, refillPeriodSeconds: 60 }
    const request = { entity: 'ann', resource: 'orders', limits: { perMinute } }
    assert.equal((await catraca.limits!.acquire(request)).allowed, true)
    assert.notEqual(catraca.codes, undefined)
    const lock = await catraca.locks.acquire('a')
    assert.equal(lock.acquired, true)
    assert.equal(await catraca.locks.forceRelease('a'), true)
    assert.deepEqual(
      (await catraca.audit!.list()).items.map(({ action }) => action),
      ['lock.break'],
    )
    const wrong = { store: 'embedded:/dev/null/x' }
    await assert.rejects(openCatraca({ engine, limits: wrong }))
    assert.equal(closed.times, 0, 'the engine stays with its maker when opening fails')
  })

  it('is not enough for a server when it lacks guards', async (t) => {
    const catraca = await openCatraca({ engine: locksOnly(t).engine })
    t.after(() => catraca.close())
    await assert.rejects(
      startServer(catraca as Catraca),
      refused(/^engine does not offer allowlists, keys, limits, .*audit, which the server needs$/),
    )
  })

  it('imports and builds indexes in this thread when no other can open the store', async (t) => {
    const { forThreads: _, ...engine } = openEmbedded()
    const catraca: Catraca = await openCatraca({ engine, membership: { build: 'off' } })
    t.after(() => catraca.close())
    const { allowlists } = catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    async function* rows() {
      yield Buffer.from(Array.from({ length: 500 }, (_, i) => `customer-${i}\n`).join(''))
    }
    const progress: unknown[] = []
    const onProgress = (each: unknown) => progress.push(each)
    const { added } = await allowlists.import('vip', rows(), { format: 'text', onProgress })
    assert.equal(added, 500)
    assert.ok(progress.length > 0)
    await allowlists.rebuild('vip')
    assert.equal((await allowlists.index('vip')).state, 'loaded')
    const { overallAllowed } = await allowlists.check('stranger', ['vip'])
    assert.deepEqual([overallAllowed, catraca.checkCounts.filtered], [false, 1])
    const stop = new AbortController()
    async function* hanging() {
      yield Buffer.from('somebody\n')
      stop.abort()
      await new Promise(() => {})
    }
    const aborted = { format: 'text', signal: stop.signal } as const
    await assert.rejects(allowlists.import('vip', hanging(), aborted), { code: 'ABORTED' })
    const actions = (await catraca.audit.list()).items.map(({ action }) => action)
    assert.ok(
      actions.some((action) => action.startsWith('allowlist.import')),
      actions.join(),
    )
  })
})
