import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, serve, type TestServer } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const PATH = '/idempotency/PRODUCE/5c1e0a56-4a58-4aaf-9359-83ec8f663f10'
const body = { payload: { queue: 'DEV.QUEUE.1', messages: 100 } }

async function start(t: TestContext): Promise<TestServer & { clock: ManualClock }> {
  const clock = new ManualClock(NOW)
  const server = await serve(t, {}, { clock, sweepIntervalMs: 0 })
  return Object.assign(Object.create(server) as TestServer, { clock })
}

async function claim(server: TestServer): Promise<string> {
  const { status, json } = await server.call('POST', PATH, { body })
  assert.equal(status, 201)
  return json.token
}

describe('POST /idempotency/{operation}/{key}', () => {
  it('claims, and replays once it is completed', async (t) => {
    const server = await start(t)
    const claimed = await server.call('POST', PATH, { body })
    assert.equal(claimed.status, 201)
    assert.match(claimed.json.token, /^[\w-]{32}$/)
    assert.deepEqual(claimed.json, {
      ...{ status: 'IN_PROGRESS', token: claimed.json.token, attempt: 1 },
      ...{ expiresAt: '2030-01-02T00:00:00.000Z', leaseUntil: '2030-01-01T00:00:30.000Z' },
    })
    assert.equal(claimed.headers['idempotency-replayed'], undefined)
    const response = { processedMessages: 100, elapsed: 'PT2.5S', nested: [null, { é: 1 }] }
    const completed = await server.call('POST', `${PATH}/complete`, {
      body: { token: claimed.json.token, response },
    })
    assert.deepEqual([completed.status, completed.json], [200, { status: 'COMPLETED' }])
    const same = { payload: { messages: 1e2, queue: 'DEV.QUEUE.1' } }
    const replay = await server.call('POST', PATH.toUpperCase().replace('IDEMPOTENCY', 'idempotency'), {
      body: same,
    })
    assert.deepEqual([replay.status, replay.json], [200, { status: 'COMPLETED', response }])
    assert.equal(replay.headers['idempotency-replayed'], 'true')
  })

  it('refuses what is in progress with 409 and when to come again, and another request with 422', async (t) => {
    const server = await start(t)
    await claim(server)
    const again = await server.call('POST', PATH, { body })
    assert.deepEqual([again.status, again.json.code], [409, 'IDEMPOTENCY_IN_PROGRESS'])
    assert.deepEqual([again.headers['retry-after'], again.json.retryAfterMs], ['1', 1000])
    assert.match(again.headers['content-type']!, /^application\/problem\+json/)
    for (const other of [{ payload: {} }, { requestHash: 'ab'.repeat(32) }, undefined, {}]) {
      const { status, json, headers } = await server.call('POST', PATH, { body: other })
      assert.deepEqual(
        [status, json.code, headers['retry-after']],
        [422, 'IDEMPOTENCY_KEY_REUSED', undefined],
      )
    }
  })

  it('claims again what failed or let its lease pass, and refuses the late owner', async (t) => {
    const server = await start(t)
    const first = await claim(server)
    const failed = await server.call('POST', `${PATH}/fail`, { body: { token: first, error: 'no route' } })
    assert.deepEqual([failed.status, failed.json], [200, { status: 'FAILED' }])
    assert.equal((await server.call('GET', PATH)).json.error, 'no route')
    const second = await claim(server)
    server.clock.advance(30_000)
    const third = await server.call('POST', PATH, { body })
    assert.deepEqual([third.status, third.json.attempt], [201, 3])
    for (const [verb, more] of [
      ['complete', { response: 1 }],
      ['fail', {}],
      ['release', {}],
      ['extend', { leaseSeconds: 10 }],
    ] as const) {
      const { status, json } = await server.call('POST', `${PATH}/${verb}`, {
        body: { token: second, ...more },
      })
      assert.deepEqual([status, json.code], [409, 'IDEMPOTENCY_CLAIM_LOST'], verb)
    }
    const done = await server.call('POST', `${PATH}/complete`, { body: { token: third.json.token } })
    assert.equal(done.status, 200)
    assert.deepEqual((await server.call('POST', PATH, { body })).json, { status: 'COMPLETED' })
  })

  it('does not take over where the claim says so', async (t) => {
    const server = await start(t)
    await claim(server)
    server.clock.advance(30_000)
    const { status, json, headers } = await server.call('POST', PATH, {
      body: { ...body, onLeaseExpired: 'unknown' },
    })
    assert.deepEqual(
      [status, json.code, headers['retry-after']],
      [409, 'IDEMPOTENCY_OUTCOME_UNKNOWN', undefined],
    )
  })

  it('extends a lease, and gives a claim back', async (t) => {
    const server = await start(t)
    const token = await claim(server)
    server.clock.advance(20_000)
    const extended = await server.call('POST', `${PATH}/extend`, { body: { token, leaseSeconds: 60 } })
    assert.deepEqual([extended.status, extended.json], [200, { status: 'IN_PROGRESS' }])
    server.clock.advance(59_000)
    assert.equal((await server.call('POST', PATH, { body })).status, 409)
    assert.equal((await server.call('POST', `${PATH}/release`, { body: { token } })).status, 204)
    assert.equal((await server.call('GET', PATH)).status, 404)
  })

  it('shows the record with the fields of the source, and never the token', async (t) => {
    const server = await start(t)
    const token = await claim(server)
    await server.call('POST', `${PATH}/complete`, { body: { token, response: { n: 1 } } })
    const { status, json, text } = await server.call('GET', PATH)
    assert.equal(status, 200)
    assert.deepEqual(json, {
      ...{ pk: 'PRODUCE#5c1e0a56-4a58-4aaf-9359-83ec8f663f10', operationType: 'PRODUCE' },
      ...{ idempotencyKey: '5c1e0a56-4a58-4aaf-9359-83ec8f663f10', status: 'COMPLETED' },
      ...{ requestHash: json.requestHash, responsePayload: '{"n":1}' },
      ...{ createdAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:00.000Z' },
      ...{ expiresAt: '2030-01-02T00:00:00.000Z', ttl: Date.UTC(2030, 0, 2) / 1000, attempt: 1 },
    })
    assert.match(json.requestHash, /^[0-9a-f]{64}$/)
    assert.doesNotMatch(text, new RegExp(token))
    const { createHash } = await import('node:crypto')
    assert.doesNotMatch(text, new RegExp(createHash('sha256').update(token).digest('hex')))
  })

  it('forgets a record, once', async (t) => {
    const server = await start(t)
    await claim(server)
    assert.equal((await server.call('DELETE', PATH)).status, 204)
    const again = await server.call('DELETE', PATH)
    assert.deepEqual([again.status, again.json.code], [404, 'IDEMPOTENCY_RECORD_NOT_FOUND'])
  })

  it('takes Idempotency-Expiry-Seconds within its range, and names it else', async (t) => {
    const server = await start(t)
    const ask = (header: string) =>
      server.call('POST', `/idempotency/PRODUCE/k${header}`, {
        headers: { 'idempotency-expiry-seconds': header },
      })
    assert.equal((await ask('3600')).json.expiresAt, '2030-01-01T01:00:00.000Z')
    for (const outside of ['1', '999999999']) {
      const { status, json } = await ask(outside)
      assert.equal(status, 400)
      assert.match(json.detail, /Idempotency-Expiry-Seconds.* from 60 to 2592000/)
    }
    for (const wrong of ['-1', '1.5', 'x', '']) {
      const { status, json } = await server.call('POST', PATH, {
        headers: { 'idempotency-expiry-seconds': wrong },
      })
      assert.deepEqual([status, json.errors[0].path], [400, 'Idempotency-Expiry-Seconds'], wrong)
    }
  })

  it('says so when an answer is too large to be kept', async (t) => {
    const clock = new ManualClock(NOW)
    const server = await serve(t, {}, { clock, idempotency: { maxResponseBytes: 100 } })
    const token = await claim(server)
    const response = 'x'.repeat(200)
    const completed = await server.call('POST', `${PATH}/complete`, { body: { token, response } })
    assert.deepEqual(completed.json, { status: 'COMPLETED', omitted: true })
    const replay = await server.call('POST', PATH, { body })
    assert.deepEqual([replay.status, replay.json], [200, { status: 'COMPLETED', omittedBytes: 202 }])
  })

  it('names what is wrong in a request', async (t) => {
    const server = await start(t)
    const token = await claim(server)
    const wrong: [string, unknown, string][] = [
      ['', { ...body, requestHash: 'ab'.repeat(32) }, 'requestHash'],
      ['', { ...body, extra: 1 }, 'extra'],
      ['', { leaseSeconds: 0 }, 'leaseSeconds'],
      ['', { leaseSeconds: 100_000 }, 'leaseSeconds'],
      ['', { leaseSeconds: '5' }, 'leaseSeconds'],
      ['', { requestHash: 'no hash!' }, 'requestHash'],
      ['/complete', { response: 1 }, 'token'],
      ['/complete', { token: 'x', response: 1 }, 'token'],
      ['/complete', { token, response: 1, more: 1 }, 'more'],
      ['/fail', { token, error: 'x'.repeat(1001) }, 'error'],
      ['/extend', { token }, 'leaseSeconds'],
      ['/extend', { token, leaseSeconds: 0.5 }, 'leaseSeconds'],
    ]
    for (const [verb, sent, path] of wrong) {
      const { status, json } = await server.call('POST', PATH + verb, { body: sent })
      assert.deepEqual(
        [status, json.code, json.errors?.[0].path],
        [400, 'INVALID_INPUT', path],
        JSON.stringify(sent),
      )
    }
    const deep = `{"payload":${'['.repeat(70)}${']'.repeat(70)}}`
    const nested = await server.call('POST', PATH, {
      body: deep,
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual([nested.status, nested.json.errors[0].path], [400, 'payload'])
    const large = await server.call('POST', `${PATH}/complete`, {
      body: { token, response: 'x'.repeat(2_000_000) },
    })
    assert.equal(large.status, 413)
    for (const path of [
      '/idempotency/a%23b/k',
      '/idempotency/PRODUCE/a%20b',
      `/idempotency/P/${'k'.repeat(257)}`,
    ])
      assert.equal((await server.call('POST', path)).status, 400, path)
  })

  it('needs its scope', async (t) => {
    const server = await start(t)
    const { key } = await server.catraca.keys.create({ name: 'app', scopes: ['idempotency'] })
    const { key: other } = await server.catraca.keys.create({ name: 'other', scopes: ['admin'] })
    const { key: limits } = await server.catraca.keys.create({ name: 'limits', scopes: ['limits'] })
    const status = async (given: string) =>
      (await server.call('POST', PATH, { body, headers: bearer(given) })).status
    const deadline = Date.now() + 5000
    while ((await status(limits)) !== 403 && Date.now() < deadline);
    assert.equal(await status(other), 403)
    const forget = (given: string) => server.call('DELETE', PATH, { headers: bearer(given) })
    assert.equal((await forget(limits)).status, 403)
    assert.equal((await forget(other)).status, 404, 'an admin may, and there is none')
    assert.ok([201, 409].includes(await status(key)))
  })

  it('is 503 when the store does not answer', async (t) => {
    const server = await start(t)
    await server.catraca.close()
    const { status } = await server.call('POST', PATH, { body })
    assert.equal(status, 503)
  })
})
