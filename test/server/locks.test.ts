import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { inTime } from '../support/in-time.js'
import { bearer, serve, type TestServer, until } from './support.js'

const hold = async (server: TestServer, name: string, body: object = { ttlMs: 60_000 }) => {
  const answer = await server.call('POST', `/locks/${name}`, { body })
  assert.equal(answer.status, 201)
  return answer.json as { token: string; fence: number; expiresAt: string }
}

/** A request that waits for a lock, and whose caller can go away. */
function waitingCall({ url }: TestServer, name: string, body: object) {
  const { hostname, port } = new URL(url)
  const headers = { 'content-type': 'application/json' }
  const call = request({ host: hostname, port, method: 'POST', path: `/locks/${name}`, headers })
  call.on('error', () => {})
  call.end(JSON.stringify(body))
  return call
}

describe('locks over HTTP', () => {
  it('are taken, refused to others, extended and given back', async (t) => {
    const server = await serve(t)
    const path = '/locks/claim:claim_abc123'
    const before = Date.now()
    const { token, fence, expiresAt } = await hold(server, 'claim:claim_abc123', { ttlMs: 20_000 })
    assert.ok(Number.isSafeInteger(fence) && fence >= before * 1000)
    assert.ok(Math.abs(Date.parse(expiresAt) - before - 20_000) < 10_000)

    const held = await server.call('POST', path, { body: { ttlMs: 20_000 } })
    assert.deepEqual([held.status, held.json.code], [409, 'LOCK_HELD'])
    assert.ok(held.json.retryAfterMs > 0 && held.json.retryAfterMs <= 20_000)
    assert.equal(held.headers['retry-after'], String(Math.ceil(held.json.retryAfterMs / 1000)))

    const state = await server.call('GET', path)
    assert.deepEqual(state.json, { name: 'claim:claim_abc123', held: true, fence, expiresAt })
    assert.ok(!state.text.includes(token))

    const extended = await server.call('POST', `${path}/extend`, { body: { token, ttlMs: 60_000 } })
    assert.equal(extended.status, 200)
    assert.ok(Date.parse(extended.json.expiresAt) > Date.parse(expiresAt) + 30_000)

    const stranger = { token: 'x'.repeat(24) }
    for (const verb of ['extend', 'release']) {
      const lost = await server.call('POST', `${path}/${verb}`, { body: stranger })
      assert.deepEqual([lost.status, lost.json.code], [409, 'LOCK_LOST'], verb)
    }
    const released = await server.call('POST', `${path}/release`, { body: { token } })
    assert.deepEqual([released.status, released.text], [204, ''])
    assert.equal((await server.call('POST', `${path}/release`, { body: { token } })).status, 409)
    assert.equal((await server.call('POST', `${path}/extend`, { body: { token } })).status, 409)
    assert.equal((await hold(server, 'claim:claim_abc123')).fence > fence, true)
  })

  it('can be waited for', async (t) => {
    const server = await serve(t)
    const { token } = await hold(server, 'a')
    const waiting = server.call('POST', '/locks/a', { body: { ttlMs: 1000, waitMs: 30_000 } })
    const late = await server.call('POST', '/locks/a', { body: { ttlMs: 1000, waitMs: 50 } })
    assert.equal(late.status, 409)
    await server.call('POST', '/locks/a/release', { body: { token } })
    assert.equal((await waiting).status, 201)
  })

  it('are not given to a caller who went away while it waited', async (t) => {
    const server = await serve(t)
    const { token } = await hold(server, 'a')
    const call = waitingCall(server, 'a', { ttlMs: 60_000, waitMs: 20_000 })
    await until('it waits', () => server.catraca.locks.stats().held > 0)
    call.destroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await server.call('POST', '/locks/a/release', { body: { token } })
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal((await server.call('GET', '/locks/a')).json.held, false)
    assert.equal(server.catraca.locks.stats().acquired, 1)
  })

  it('waited for when the server stops are refused', async (t) => {
    const server = await serve(t, { shutdownTimeoutMs: 120_000 })
    await hold(server, 'a')
    const waiting = server.call('POST', '/locks/a', { body: { waitMs: 30_000 } })
    await until('it waits', () => server.catraca.locks.stats().held > 0)
    await inTime(server.stop(), 20_000)
    const refused = await waiting
    assert.deepEqual([refused.status, refused.json.code], [503, 'SHUTTING_DOWN'])
  })

  it('are taken away by an operator only', async (t) => {
    const server = await serve(t)
    const { token } = await hold(server, 'a')
    const admin = await server.catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    const user = await server.catraca.keys.create({ name: 'user', scopes: ['locks'] })
    const look = (key: string) => server.call('GET', '/locks/a', { headers: bearer(key) })
    await until('both keys are known', async () => {
      const asked = await Promise.all([look(admin.key), look(user.key)])
      return server.keyed && asked.every(({ status }) => status !== 401)
    })
    assert.equal((await server.call('DELETE', '/locks/a', { headers: bearer(user.key) })).status, 403)
    assert.equal((await look(admin.key)).status, 200)
    assert.equal(
      (await server.call('POST', '/locks/a/release', { headers: bearer(admin.key), body: { token } })).status,
      403,
    )
    assert.equal((await server.call('DELETE', '/locks/a', { headers: bearer(admin.key) })).status, 204)
    const lost = await server.call('POST', '/locks/a/release', { headers: bearer(user.key), body: { token } })
    assert.equal(lost.status, 409)
  })

  it('with bad input get an error that names the field', async (t) => {
    const server = await serve(t)
    const wrong: [string, object, string][] = [
      ['/locks/a', { ttlMs: 1 }, 'ttlMs'],
      ['/locks/a', { ttlMs: '30s' }, 'ttlMs'],
      ['/locks/a', { ttlMs: 1000, waitMs: 30_001 }, 'waitMs'],
      ['/locks/a', { ttlMs: 1000, fence: 5 }, 'fence'],
      ['/locks/a%20b', { ttlMs: 1000 }, 'name'],
      ['/locks/a/extend', { ttlMs: 1000 }, 'token'],
      ['/locks/a/release', { token: 'no token' }, 'token'],
    ]
    for (const [path, body, field] of wrong) {
      const { status, json } = await server.call('POST', path, { body })
      assert.equal(status, 400, `${path} ${JSON.stringify(body)}`)
      assert.match(json.errors[0].path, new RegExp(field))
    }
  })
})
