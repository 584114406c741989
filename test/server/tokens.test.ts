import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, knownKey, serve, until } from './support.js'

const options = () => ({ clock: new ManualClock(Date.UTC(2030, 0, 1)), sweepIntervalMs: 0 })
const expiresAt = '2030-01-01T01:00:00Z'

describe('revoked tokens over HTTP', () => {
  it('are revoked, alone and many at once, and checked', async (t) => {
    const { call } = await serve(t, {}, options())
    const isRevoked = async (path: string) => {
      const { status, json } = await call('GET', `/revoked-tokens/${path}`)
      assert.equal(status, 200)
      return json
    }
    assert.deepEqual(await isRevoked('a:1'), { revoked: false })
    const put = await call('PUT', '/revoked-tokens/a:1', { body: { expiresAt } })
    assert.deepEqual([put.status, put.text], [204, ''])
    assert.deepEqual(await isRevoked('a:1'), { revoked: true })
    const tokens = ['b', 'c'].map((jti) => ({ jti, expiresAt }))
    assert.equal((await call('POST', '/revoked-tokens', { body: { tokens } })).status, 204)
    assert.deepEqual(await isRevoked('c'), { revoked: true })
  })

  it('are revoked with all of their subject', async (t) => {
    const { call } = await serve(t, {}, options())
    const body = { notBefore: '2030-01-01T00:00:00Z', expiresAt }
    assert.equal((await call('PUT', '/revoked-subjects/ann', { body })).status, 204)
    const asked = [
      '?subject=ann&issuedAt=2029-12-31T23:59:59Z',
      '?subject=ann&issuedAt=2030-01-01T00:00:00Z',
      '?subject=ann',
      '?subject=bob',
      '',
    ]
    const answers = await Promise.all(asked.map((query) => call('GET', `/revoked-tokens/x${query}`)))
    assert.deepEqual(
      answers.map(({ json }) => json.revoked),
      [true, false, true, false, false],
    )
  })

  it('are refused when something is wrong, by the name of the field', async (t) => {
    const { call } = await serve(t, {}, options())
    const wrong: [string, string, object | undefined, string][] = [
      ['PUT', '/revoked-tokens/a%20b', { expiresAt }, 'jti'],
      ['PUT', '/revoked-tokens/a', {}, 'expiresAt'],
      ['PUT', '/revoked-tokens/a', { expiresAt: 5 }, 'expiresAt'],
      ['PUT', '/revoked-tokens/a', { expiresAt: 'soon' }, 'expiresAt'],
      ['PUT', '/revoked-tokens/a', { expiresAt, why: 'x' }, 'why'],
      ['POST', '/revoked-tokens', { tokens: [] }, 'tokens'],
      [
        'POST',
        '/revoked-tokens',
        {
          tokens: [
            { jti: 'a', expiresAt },
            { jti: '/', expiresAt },
          ],
        },
        'tokens[1].jti',
      ],
      ['PUT', '/revoked-subjects/a', { expiresAt }, 'notBefore'],
      ['GET', '/revoked-tokens/a?issuedAt=2030-01-01T00:00:00Z', undefined, 'subject'],
      ['GET', '/revoked-tokens/a?subject=a&issuedAt=x', undefined, 'issuedAt'],
    ]
    for (const [method, path, body, field] of wrong) {
      const { status, json } = await call(method, path, body === undefined ? {} : { body })
      assert.deepEqual([status, json.errors?.[0]?.path], [400, field], `${method} ${path}`)
    }
    assert.deepEqual((await call('GET', '/revoked-tokens/a')).json, { revoked: false })
  })

  it('have a scope for checking and another for revoking', async (t) => {
    const server = await serve(t, {}, options())
    const { call } = server
    const { key: checker } = await knownKey(server, 'checker', ['tokens:check'])
    const { key: revoker } = await knownKey(server, 'revoker', ['tokens:revoke'])
    const check = async (key: string) =>
      (await call('GET', '/revoked-tokens/a', { headers: bearer(key) })).status
    const revoke = async (key: string) =>
      (await call('PUT', '/revoked-tokens/a', { headers: bearer(key), body: { expiresAt } })).status
    assert.deepEqual([await check(checker), await check(revoker)], [200, 403])
    assert.deepEqual([await revoke(checker), await revoke(revoker)], [403, 204])
  })
  it('are so many at most, also where nobody checks one', async (t) => {
    const { call } = await serve(t, {}, { ...options(), tokens: { maxEntries: 3 } })
    let sent = 0
    const revoke = () => call('PUT', `/revoked-tokens/t${sent++}`, { body: { expiresAt } })
    await until('it is full', async () => (await revoke()).status === 507)
    assert.equal((await revoke()).json.code, 'STORE_FULL')
  })
})
