import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, knownKey, serve } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const ann = { address: 'Ann@Example.com' }
const options = () => ({ clock: new ManualClock(NOW), sweepIntervalMs: 0 })

describe('POST /otp/{channel}', () => {
  it('makes a code that verify takes once', async (t) => {
    const { call } = await serve(t, {}, options())
    const made = await call('POST', '/otp/email', { body: ann })
    assert.equal(made.status, 201)
    assert.deepEqual(Object.keys(made.json), ['code', 'expiresAt'])
    assert.equal(made.json.expiresAt, '2030-01-01T00:10:00.000Z')
    assert.equal(made.headers['cache-control'], 'no-store')
    const body = { address: 'ann@example.com', code: made.json.code }
    const { status, json } = await call('POST', '/otp/email/verify', { body })
    assert.deepEqual([status, json], [200, { valid: true }])
    const again = await call('POST', '/otp/email/verify', { body })
    assert.deepEqual([again.status, again.json], [200, { valid: false, reason: 'INVALID' }])
  })

  it('answers 429 when asked for too often, LOCKED after ten failures, and 429 for a locked address', async (t) => {
    const { call } = await serve(t, {}, options())
    await call('POST', '/otp/phone', { body: { address: '+5511999998888', purpose: 'pix' } })
    const denied = await call('POST', '/otp/phone', { body: { address: '+5511999998888', purpose: 'pix' } })
    assert.equal(denied.status, 429)
    assert.equal(denied.headers['retry-after'], '60')
    assert.match(denied.headers['content-type']!, /^application\/problem\+json/)
    assert.deepEqual(
      [denied.json.code, denied.json['violated-policies'], denied.json.retryAfterMs],
      ['QUOTA_EXCEEDED', ['minute'], 60_000],
    )
    const body = { address: 'bob@example.com', code: '123456' }
    for (let i = 0; i < 10; i++) {
      assert.equal((await call('POST', '/otp/email/verify', { body })).json.reason, 'INVALID')
    }
    const locked = await call('POST', '/otp/email/verify', { body })
    assert.deepEqual([locked.status, locked.json], [200, { valid: false, reason: 'LOCKED' }])
    const unsent = await call('POST', '/otp/email', { body: { address: 'bob@example.com' } })
    assert.deepEqual([unsent.status, unsent.headers['retry-after']], [429, '900'])
    assert.deepEqual([unsent.json.code, unsent.json['violated-policies']], ['QUOTA_EXCEEDED', ['lock']])
    assert.match(unsent.json.detail, /locked/)
  })

  it('refuses what is wrong by the name of its field', async (t) => {
    const { call } = await serve(t, {}, options())
    const wrong: [string, object, string][] = [
      ['/otp/fax', ann, 'channel'],
      ['/otp/email', {}, 'address'],
      ['/otp/email', { address: 'ann' }, 'address'],
      ['/otp/email', { ...ann, ttl: 1 }, 'ttl'],
      ['/otp/phone', ann, 'address'],
      ['/otp/email/verify', ann, 'code'],
      ['/otp/email/verify', { ...ann, code: 123456 }, 'code'],
    ]
    for (const [path, body, field] of wrong) {
      const { status, json, text } = await call('POST', path, { body })
      assert.deepEqual([status, json.errors?.[0]?.path], [400, field], path)
      assert.doesNotMatch(text, /ann@example/i)
    }
  })

  it('has a scope for issuing and another for verifying', async (t) => {
    const server = await serve(t, {}, options())
    const { call } = server
    const { key: issuer } = await knownKey(server, 'issuer', ['codes:issue'])
    const { key: verifier } = await knownKey(server, 'verifier', ['codes:verify'])
    const ask = async (path: string, key: string, body: object) =>
      (await call('POST', path, { body, headers: bearer(key) })).status
    const guess = { ...ann, code: '1' }
    assert.deepEqual(
      [await ask('/otp/email', issuer, ann), await ask('/otp/email', verifier, ann)],
      [201, 403],
    )
    assert.deepEqual(
      [await ask('/otp/email/verify', issuer, guess), await ask('/otp/email/verify', verifier, guess)],
      [403, 200],
    )
  })

  it('logs neither codes nor addresses', async (t) => {
    const lines: string[] = []
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk))
        done()
      },
    })
    const logger = pino({ level: 'trace' }, sink)
    const { catraca, call } = await serve(t, { logger, accessLogSampling: 1 }, options())
    const { json } = await call('POST', '/otp/email', { body: ann })
    await call('POST', '/otp/email', { body: ann })
    await call('POST', '/otp/email/verify', { body: { ...ann, code: '987654' } })
    await call('POST', '/otp/email/verify', { body: { address: 'ann@@example.com', code: '987654' } })
    await call('POST', '/otp/email/verify', { body: '{"address":"ann@example.com","code":987654' })
    await catraca.close()
    const failed = await call('POST', '/otp/email/verify', { body: { ...ann, code: json.code } })
    assert.equal(failed.status, 503)
    const log = lines.join('')
    assert.match(log, /\/otp\/:?\w+/)
    for (const secret of [json.code, '987654', 'example.com', 'Example.com']) {
      assert.ok(!log.includes(secret), `the log holds ${secret}`)
      assert.ok(!failed.text.includes(secret))
    }
  })
})
