import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve } from './support.js'

describe('GET /customers/{customerId}/explain', () => {
  it('answers as the check does, step by step', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ann')
    const { status, json } = await server.call('GET', '/customers/ann/explain?allowlists=vip,none')
    assert.equal(status, 200)
    assert.deepEqual([json.customerId, json.overallAllowed], ['ann', false])
    assert.deepEqual(
      json.results.map((result: { allowlistId: string; reason: string }) => [
        result.allowlistId,
        result.reason,
      ]),
      [
        ['vip', 'MEMBER'],
        ['none', 'ALLOWLIST_NOT_FOUND'],
      ],
    )
    for (const { step, outcome, durationUs } of json.results[0].steps) {
      assert.ok(typeof step === 'string' && typeof outcome === 'string' && durationUs >= 0)
    }
    assert.ok(json.durationUs > 0)
  })

  it('refuses what a check refuses', async (t) => {
    const server = await serve(t)
    const none = await server.call('GET', '/customers/ann/explain?allowlists=')
    assert.deepEqual([none.status, none.json.errors[0].path], [400, 'allowlists[0]'])
    const bad = await server.call('GET', '/customers/a%20b/explain?allowlists=vip')
    assert.deepEqual([bad.status, bad.json.errors[0].path], [400, 'customerId'])
  })
})
