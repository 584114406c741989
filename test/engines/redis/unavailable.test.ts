import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { openCatraca } from '../../../src/app/open-catraca.js'
import { isCatracaError } from '../../../src/core/errors.js'
import type { OnUnavailable } from '../../../src/guards/allowlist/types.js'
import { serve } from '../../server/support.js'
import { type RedisServers, startSingle, until } from '../../support/redis/index.js'

/** What checks say while Redis is away. */
const QUICK = {
  sweepIntervalMs: 0,
  redis: { commandTimeoutMs: 300, connectTimeoutMs: 3000, staleAfterMs: 300 },
  membership: { staleAfterMs: 300, compareIntervalMs: 50 },
}
let redis: RedisServers
before(async () => {
  redis = await startSingle({ settings: [['maxmemory-policy', 'allkeys-lru']] })
})
after(() => redis.stop())

async function open(t: TestContext, onUnavailable: OnUnavailable) {
  const reported: string[] = []
  const catraca = await openCatraca({
    store: redis.storeUrl,
    ...QUICK,
    onUnavailable,
    onReport: (message) => reported.push(message),
  })
  t.after(() => catraca.close())
  return { ...catraca, reported }
}

describe('without Redis', () => {
  it('a check is an error when it must block, and allowed but marked when it may not', async (t) => {
    await redis.flush()
    const [block, allow] = [await open(t, 'block'), await open(t, 'allow')]
    await block.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await block.allowlists.create({
      ...{ id: 'wave', name: 'Wave', type: 'ONDA' },
      config: { strategy: 'PERCENTAGE', percentage: 1 },
    })
    await block.allowlists.add('vip', 'alice')
    for (const { allowlists } of [block, allow]) {
      assert.equal((await allowlists.check('alice', ['vip', 'wave'])).overallAllowed, true)
    }
    redis.servers[0]!.pause()
    try {
      await until('what was known is too old', () =>
        block.allowlists.check('bob', ['vip']).then(
          () => false,
          () => true,
        ),
      )
      await assert.rejects(block.allowlists.check('bob', ['vip']), (error) =>
        isCatracaError(error, 'ENGINE_UNAVAILABLE'),
      )
      await assert.rejects(block.allowlists.add('vip', 'bob'))
      const answer = await allow.allowlists.check('bob', ['vip'])
      assert.deepEqual([answer.overallAllowed, answer.degraded], [true, true])
      const [result] = answer.results
      assert.deepEqual(
        [result?.allowed, result?.reason, result?.type, result?.degraded],
        [true, 'UNAVAILABLE', null, true],
      )
      const many = await allow.allowlists.checkMany({ customerIds: ['bob', 'eve'], allowlists: ['vip'] })
      assert.deepEqual(
        many.results.map(({ degraded }) => degraded),
        [true, true],
      )
      assert.equal((await block.health()).status, 'unhealthy')
    } finally {
      redis.servers[0]!.resume()
    }
    await until('both answer again, by themselves', async () => {
      const answers = await Promise.all(
        [block, allow].map(({ allowlists }) => allowlists.check('bob', ['vip'])),
      )
      return answers.every(({ overallAllowed, degraded }) => !overallAllowed && degraded === undefined)
    })
  })

  it('a server goes on with what it last knew, and says as of when', async (t) => {
    await redis.flush()
    const server = await serve(t, {}, { store: redis.storeUrl, ...QUICK, onUnavailable: 'last-known' })
    await server.call('POST', '/allowlists', { body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
    await server.call('PUT', '/allowlists/vip/customers/alice', { body: {} })
    await server.call('POST', '/allowlists/vip/rebuild')
    const path = '/customers/alice/check?allowlists=vip'
    await until('the list is in memory', async () => {
      const { json } = await server.call('GET', '/allowlists/vip/index')
      return (await server.call('GET', path)).json.overallAllowed && json.state === 'loaded'
    })
    await redis.servers[0]!.kill()
    await until('memory is not fresh', async () => (await server.call('GET', path)).json.degraded === true)
    const { status, json } = await server.call('GET', path)
    assert.deepEqual([status, json.overallAllowed, json.results[0].reason], [200, true, 'MEMBER'])
    assert.ok(Number.isFinite(Date.parse(json.asOf)))
    assert.equal(json.results[0].asOf, json.asOf)
    const stranger = await server.call('GET', '/customers/bob/check?allowlists=vip')
    assert.deepEqual([stranger.json.overallAllowed, stranger.json.degraded], [false, true])
    const many = await server.call('POST', '/check', {
      body: { customerIds: ['alice'], allowlists: ['vip'] },
    })
    assert.equal(many.json.results[0].asOf, many.json.results[0].results[0].asOf)
    const explained = await server.call('GET', '/customers/alice/explain?allowlists=vip')
    assert.deepEqual([explained.status, explained.json.results[0].degraded], [200, true])
    assert.equal((await server.call('GET', `${path}&consistency=strong`)).status, 503)
    assert.equal((await server.call('GET', '/customers/alice/check?allowlists=none')).status, 503)
    const metrics = await server.call('GET', '/metrics')
    assert.match(metrics.text, /catraca_checks_degraded_total\{answer="last_known"\} [1-9]/)
    await redis.servers[0]!.restart()
    await until('it is back, empty', async () => (await server.call('GET', path)).json.degraded === undefined)
  })

  it('a server says 503, or 200 with degraded in it', async (t) => {
    await redis.flush()
    const blocking = await serve(t, {}, { store: redis.storeUrl, ...QUICK })
    const allowing = await serve(t, {}, { store: redis.storeUrl, ...QUICK, onUnavailable: 'allow' })
    await blocking.call('POST', '/allowlists', { body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
    const path = '/customers/bob/check?allowlists=vip'
    await redis.servers[0]!.kill()
    await until('nothing is known any more', async () => (await blocking.call('GET', path)).status === 503)
    const { status, json } = await blocking.call('GET', path)
    assert.deepEqual([status, json.code], [503, 'ENGINE_UNAVAILABLE'])
    const degraded = await allowing.call('GET', path)
    assert.deepEqual(
      [degraded.status, degraded.json.overallAllowed, degraded.json.degraded],
      [200, true, true],
    )
    assert.equal(degraded.json.results[0].degraded, true)
    const posted = await allowing.call('POST', '/check', {
      body: { customerIds: ['bob'], allowlists: ['vip'] },
    })
    assert.equal(posted.json.results[0].degraded, true)
    await redis.servers[0]!.restart()
    await until('it is back, empty', async () => (await blocking.call('GET', path)).status === 200)
  })

  it('whoever opens a store that may forget members is told so', async (t) => {
    const { reported, health } = await open(t, 'block')
    assert.match(reported.join('\n'), /maxmemory-policy.*allkeys-lru/)
    assert.match(JSON.stringify((await health()).engines), /allkeys-lru/)
  })
})
