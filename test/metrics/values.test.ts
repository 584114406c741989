import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { describe, it } from 'node:test'
import type { OpenOptions } from '../../src/app/open-catraca.js'
import { ManualClock } from '../../src/core/clock.js'
import { metricsOf } from '../../src/metrics/index.js'
import { serve, until } from '../server/support.js'
import { openPatiently } from '../support/patient.js'
import { parse, type Sample, sampleOf } from './support.js'

const NOW = Date.UTC(2030, 0, 1)

async function open(t: { after(fn: () => unknown): void }, options: OpenOptions = {}) {
  const catraca = await openPatiently({ store: 'memory:', ...options })
  t.after(() => catraca.close())
  const registry = metricsOf(catraca)
  const samples = async (): Promise<Sample[]> => parse(await registry.metrics())
  const value = async (name: string, labels?: Record<string, string>) =>
    sampleOf(await samples(), name, labels)
  return { catraca, samples, value }
}

describe('metrics of checks', () => {
  it('count each customer and list by reason, over HTTP, by all ways', async (t) => {
    const server = await serve(t)
    const { allowlists, keys } = server.catraca
    const { key } = await keys.create({ name: 'app', scopes: ['check', 'read'] })
    await until('the server is locked', async () => (await server.call('GET', '/metrics')).status === 401)
    const headers = { authorization: `Bearer ${key}` }
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ann')
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const ask = (path: string) => server.call('GET', path, { headers, agent })
    // On the connection itself, behind the parser of Node, and through the framework.
    for (let i = 0; i < 3; i++) await ask('/customers/ann/check?allowlists=vip')
    await ask('/live')
    for (let i = 0; i < 2; i++) await ask('/customers/bob/check?allowlists=vip')
    for (let i = 0; i < 4; i++) await ask('/customers/ann/check?allowlists=vip%2Cmade-up')
    const body = { customerIds: ['ann', 'bob', 'eve'], allowlists: ['vip'] }
    await server.call('POST', '/check', { headers, agent, body })
    const samples = parse((await ask('/metrics')).text)
    const count = (list: string, reason: string) =>
      sampleOf(samples, 'catraca_checks_total', { list, reason })
    assert.deepEqual([count('vip', 'MEMBER'), count('vip', 'NOT_MEMBER')], [3 + 4 + 1, 2 + 2])
    assert.equal(count('other', 'ALLOWLIST_NOT_FOUND'), 4, 'made-up names get no series')
    assert.equal(count('made-up', 'ALLOWLIST_NOT_FOUND'), undefined)
    assert.equal(sampleOf(samples, 'catraca_check_duration_seconds_count'), 3 + 2 + 4 + 1)
    const route = '/customers/:customerId/check'
    const requests = (labels: object) => sampleOf(samples, 'catraca_http_requests_total', { ...labels })
    assert.equal(requests({ method: 'GET', route, status: '200' }), 3 + 2 + 4)
    assert.equal(requests({ method: 'POST', route: '/check', status: '200' }), 1)
    assert.ok(requests({ route: '/metrics', status: '401' })! >= 1)
    const bucket = { route, le: '+Inf' }
    assert.equal(sampleOf(samples, 'catraca_http_request_duration_seconds_bucket', bucket), 9)
    assert.ok(!JSON.stringify(samples).includes('"ann"'), 'customers are no labels')
  })

  it('count up to so many lists apart, and the rest together', async (t) => {
    const { catraca, samples } = await open(t, { metrics: { maxSeries: 3 } })
    for (let i = 0; i < 6; i++) {
      await catraca.allowlists.create({ id: `list-${i}`, name: 'x', type: 'FIXA' })
      for (let times = 0; times <= i; times++) await catraca.allowlists.check('ann', [`list-${i}`])
    }
    const found = (await samples()).filter(({ name }) => name === 'catraca_checks_total')
    assert.deepEqual(
      found.map(({ labels, value }) => [labels.list, value]),
      [
        ['list-0', 1],
        ['list-1', 2],
        ['list-2', 3],
        ['other', 4 + 5 + 6],
      ],
    )
  })

  it('tell who answered', async (t) => {
    const { catraca, value } = await open(t)
    const { allowlists } = catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await allowlists.add('vip', 'ann')
    await allowlists.rebuild('vip')
    assert.equal(await value('catraca_index_lists'), 1)
    assert.equal(await value('catraca_index_builds_total', { outcome: 'built' }), 1)
    assert.ok((await value('catraca_index_bytes'))! > 0)
    assert.ok(Math.abs(Date.now() / 1000 - (await value('catraca_index_last_build_timestamp_seconds'))!) < 60)
    for (let i = 0; i < 3; i++) await allowlists.check('ann', ['vip'])
    for (let i = 0; i < 5; i++) await allowlists.check('eve', ['vip'])
    await allowlists.check('ann', ['vip'], { consistency: 'strong' })
    await allowlists.add('vip', 'bob')
    await allowlists.check('bob', ['vip'])
    const source = (name: string) => value('catraca_check_answers_total', { source: name })
    assert.deepEqual(
      await Promise.all(['confirmed', 'verified', 'filtered', 'store', 'overlay', 'trusted'].map(source)),
      [1, 2, 5, 1, 1, 0],
    )
    assert.equal(await value('catraca_index_overlay_entries'), 1)
    assert.equal(await value('catraca_index_stale_lists'), 0)
    assert.equal(await value('catraca_verification_cache_hits_total'), 2)
  })
})

describe('metrics of the other guards', () => {
  it('begin at 0 where alerts look for an increase', async (t) => {
    const { catraca, value } = await open(t)
    for (const outcome of ['lost', 'degraded'])
      assert.equal(await value('catraca_idempotency_outcomes_total', { outcome }), 0)
    for (const channel of ['email', 'phone'])
      assert.equal(await value('catraca_code_outcomes_total', { channel, outcome: 'locked' }), 0)
    for (const answer of ['allowed', 'blocked'])
      assert.equal(await value('catraca_checks_degraded_total', { answer }), 0)
    for (const name of ['catraca_locks_lost_total', 'catraca_audit_failures_total'])
      assert.equal(await value(name), 0)
    assert.equal(await value('catraca_index_builds_total', { outcome: 'failed' }), 0)
    assert.equal(await value('catraca_engine_connection_failures_total', { engine: 'embedded' }), 0)
    const claim = { capability: 'idempotency', verb: 'claim', outcome: 'unknown_outcome' }
    assert.equal(await value('catraca_engine_calls_total', claim), 0)
    await catraca.limits.acquire({
      entity: 'ann',
      resource: 'api',
      limits: { rpm: { capacity: 1, refillPeriodSeconds: 60 } },
    })
    for (const outcome of ['denied', 'degraded_allowed', 'degraded_blocked'])
      assert.equal(await value('catraca_limit_decisions_total', { resource: 'api', outcome }), 0)
  })

  it('count limits by resource and outcome', async (t) => {
    const { catraca, value } = await open(t, { clock: new ManualClock(NOW) })
    const { limits } = catraca
    const rule = { capacity: 2, refillAmount: 2, refillPeriodSeconds: 60 }
    await limits.setConfig({ level: 'resource', resource: 'api' }, { limits: { rpm: rule } })
    await limits.setConfig(
      { level: 'resource', resource: 'trial' },
      { limits: { rpm: { ...rule, mode: 'shadow' } } },
    )
    for (const resource of ['api', 'trial']) {
      for (let i = 0; i < 5; i++) await limits.acquire({ entity: 'e', resource, consume: { rpm: 1 } })
    }
    const count = (resource: string, outcome: string) =>
      value('catraca_limit_decisions_total', { resource, outcome })
    assert.deepEqual([await count('api', 'allowed'), await count('api', 'denied')], [2, 3])
    assert.deepEqual([await count('trial', 'allowed'), await count('trial', 'shadow_denied')], [2, 3])
  })

  it('count idempotent requests', async (t) => {
    const { catraca, value } = await open(t)
    const { idempotency } = catraca
    const request = { operation: 'pay', key: 'one', payload: { cents: 1 } }
    await idempotency.run(request, () => 'done')
    await idempotency.run(request, () => 'again')
    await idempotency.run({ ...request, payload: { cents: 2 } }, () => 'other')
    const failing = { operation: 'pay', key: 'two', payload: 1 }
    await assert.rejects(
      idempotency.run(failing, () => {
        throw new Error('no')
      }),
    )
    const begun = await idempotency.begin(failing)
    assert.equal(begun.outcome, 'claimed')
    await idempotency.begin(failing)
    await assert.rejects(idempotency.complete(failing, 'A'.repeat(32), 1))
    const names = [
      'claimed',
      'reclaimed',
      'replayed',
      'mismatch',
      'in_progress',
      'completed',
      'failed',
      'lost',
    ]
    const counts = names.map((outcome) => value('catraca_idempotency_outcomes_total', { outcome }))
    assert.deepEqual(await Promise.all(counts), [2, 1, 1, 1, 1, 1, 1, 1])
  })

  it('count locks, and how long they were waited for', async (t) => {
    const { catraca, value } = await open(t)
    const { locks } = catraca
    const held = await locks.acquire('door', { ttlMs: 30_000 })
    assert.ok(held.acquired)
    await locks.acquire('door', { ttlMs: 1000 })
    await locks.acquire('door', { ttlMs: 1000, waitMs: 20 })
    await locks.release('door', held.token)
    await locks.release('door', held.token)
    const counts = ['acquired', 'held', 'timed_out'].map((outcome) =>
      value('catraca_lock_acquires_total', { outcome }),
    )
    assert.deepEqual(await Promise.all(counts), [1, 1, 1])
    assert.equal(await value('catraca_locks_lost_total'), 1)
    assert.equal(await value('catraca_lock_wait_seconds_count'), 1)
    assert.equal(await value('catraca_lock_wait_seconds_bucket', { le: '0.01' }), 0)
    assert.ok((await value('catraca_lock_wait_seconds_sum'))! >= 0.015)
  })

  it('count codes by channel, and tokens', async (t) => {
    const { catraca, value } = await open(t)
    const { codes, tokens } = catraca
    const address = { channel: 'email', address: 'ann@example.com' } as const
    const issued = await codes.issue(address)
    await codes.issue(address)
    await codes.verify({ ...address, code: '000000' })
    await codes.verify({ ...address, code: (issued as { code: string }).code })
    const code = (outcome: string) => value('catraca_code_outcomes_total', { channel: 'email', outcome })
    assert.deepEqual(await Promise.all(['issued', 'refused', 'valid', 'invalid'].map(code)), [1, 1, 1, 1])
    await tokens.warmUp()
    await tokens.revoke({ jti: 'a', expiresAt: new Date(Date.now() + 60_000).toISOString() })
    for (const jti of ['a', 'b', 'c']) await tokens.isRevoked({ jti })
    const token = (outcome: string) => value('catraca_token_checks_total', { outcome })
    assert.deepEqual([await token('revoked'), await token('passed')], [1, 2])
    assert.equal(await value('catraca_token_denylist_entries'), 1)
    assert.ok((await value('catraca_token_denylist_lag_seconds'))! < 30)
  })

  it('count what a cache found, kept and loaded, and bound its spaces', async (t) => {
    const { catraca, value, samples } = await open(t, { metrics: { maxSeries: 2 } })
    const [prices, ...others] = ['prices', 'b', 'c', 'd'].map((name) =>
      catraca.cache.space<number>({ name, ttlMs: 60_000, negativeTtlMs: 60_000 }),
    )
    for (let i = 0; i < 3; i++) await prices!.getOrLoad('one', async () => 1)
    for (let i = 0; i < 3; i++) await prices!.getOrLoad('none', async () => undefined)
    await assert.rejects(prices!.getOrLoad('bad', () => Promise.reject(new Error('down'))))
    for (const space of others) await space.getOrLoad('x', async () => 1)
    const look = (outcome: string) => value('catraca_cache_lookups_total', { space: 'prices', outcome })
    assert.deepEqual(await Promise.all(['first_tier', 'miss', 'negative'].map(look)), [4, 3, 2])
    const loads = (space: string, outcome: string) => value('catraca_cache_loads_total', { space, outcome })
    assert.deepEqual([await loads('prices', 'loaded'), await loads('prices', 'failed')], [2, 1])
    assert.equal(await loads('other', 'loaded'), 2)
    assert.equal(await value('catraca_cache_entries', { space: 'prices' }), 2)
    const spaces = (await samples()).filter(({ name }) => name === 'catraca_cache_entries')
    assert.deepEqual(
      spaces.map(({ labels }) => labels.space),
      ['prices', 'b', 'other'],
    )
  })
})
