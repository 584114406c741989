import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { bearer, serve, until } from './support.js'

const expiresAt = '2099-01-01T00:00:00Z'
const address = 'ann@example.com'
const csv = 'customerId\nbob\n'

/** What takes something away, with what it is recorded as, and by which target it is found. */
const DESTRUCTIVE: [string, string, object | string | undefined, string, string][] = [
  ['DELETE', '/limits/ann/gpt', undefined, 'limit.reset', 'limit:gpt'],
  ['DELETE', '/config/entities/ann/gpt', undefined, 'limit.config.delete', 'limit:gpt'],
  ['DELETE', '/entities/ann', undefined, 'entity.delete', 'entity:ann'],
  ['DELETE', '/idempotency/PAY/k', undefined, 'idempotency.delete', 'idempotency:k'],
  ['DELETE', '/locks/job', undefined, 'lock.break', 'lock:job'],
  ['POST', '/otp/email/revoke', { address }, 'code.revoke', 'code:'],
  ['PUT', '/revoked-tokens/t1', { expiresAt }, 'token.revoke', 'token:t1'],
  ['POST', '/revoked-tokens', { tokens: [{ jti: 't2', expiresAt }] }, 'token.revoke', 'token:t2'],
  ['PUT', '/revoked-subjects/ann', { notBefore: expiresAt, expiresAt }, 'subject.revoke', 'subject:ann'],
  ['DELETE', '/allowlists/vip/customers/ann', undefined, 'allowlist.member.remove', 'customer:ann'],
  ['POST', '/allowlists/vip/import?mode=replace', csv, 'allowlist.import', 'allowlist:vip'],
  ['DELETE', '/keys/old', undefined, 'key.revoke', 'key:old'],
  ['DELETE', '/allowlists/vip', undefined, 'allowlist.delete', 'allowlist:vip'],
]

describe('who is named in the audit trail', () => {
  it('is the key, for everything that can be taken away by hand', async (t) => {
    const { call, catraca } = await serve(t)
    const scopes = ['admin', 'limits', 'idempotency', 'tokens:revoke'] as const
    const { key, id } = await catraca.keys.create({ name: 'ops', scopes: [...scopes] })
    await catraca.keys.create({ name: 'old', scopes: ['read'] })
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await catraca.allowlists.add('vip', 'ann')
    const limits = { rpm: { capacity: 5, refillAmount: 5, refillPeriodSeconds: 60 } }
    await catraca.limits.setConfig({ level: 'entity', identifier: 'ann', resource: 'gpt' }, { limits })
    await catraca.limits.setEntity('ann', { parent: 'org' })
    await catraca.idempotency.begin({ operation: 'PAY', key: 'k' })
    await catraca.locks.acquire('job', { ttlMs: 60_000 })
    await catraca.codes.issue({ channel: 'email', address })
    const headers = bearer(key)
    await until('the key is known', async () => (await call('GET', '/session', { headers })).status === 200)
    const find = async (query: string) => (await call('GET', `/audit?limit=1&${query}`, { headers })).json
    for (const [i, [method, path, body, action, target]] of DESTRUCTIVE.entries()) {
      const kind = typeof body === 'string' ? { 'content-type': 'text/csv' } : {}
      const requestId = `request-${i}`
      const answer = await call(method, path, {
        headers: { ...headers, ...kind, 'x-request-id': requestId },
        body,
      })
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
      const [found] = (await find(`action=${action}`)).items
      assert.deepEqual([found.actor, found.requestId], [{ kind: 'key', name: 'ops', id }, requestId], action)
      const whole = target.endsWith(':') ? target + found.target.id : target
      assert.equal((await find(`target=${whole}`)).items?.[0]?.id, found.id, `${action} by ${whole}`)
    }
  })

  it('is the key also when another one speaks on the same connection before the answer', async (t) => {
    const { url, call, catraca } = await serve(t)
    const { key: ops, id } = await catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    const { key: other } = await catraca.keys.create({ name: 'other', scopes: ['check'] })
    const headers = bearer(ops)
    for (const key of [ops, other]) {
      const isKnown = async () => (await call('GET', '/session', { headers: bearer(key) })).status === 200
      await until('the key is known', isKnown)
    }
    const { host, hostname, port } = new URL(url)
    const head = (line: string, key: string) =>
      `${line} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n`
    const body = '{"id":"vip","name":"VIP","type":"FIXA"}'
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
    })
    socket.write(
      `${head('POST /allowlists', ops)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        `${head('GET /session', other)}\r\n`,
    )
    await until('both are answered', () => received.includes('"name":"other"'))
    const [entry] = (await call('GET', '/audit?action=allowlist.create', { headers })).json.items
    assert.deepEqual(entry.actor, { kind: 'key', name: 'ops', id })
  })
})
