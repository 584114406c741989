import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { serve, until } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const LIMIT = { capacity: 1, refillAmount: 1, refillPeriodSeconds: 60 }

async function start(t: TestContext) {
  const clock = new ManualClock(NOW)
  return { clock, ...(await serve(t, {}, { clock, sweepIntervalMs: 0 })) }
}

describe('GET /allowlists with search and sort', () => {
  it('finds, sorts, pages and counts', async (t) => {
    const { call } = await start(t)
    for (const [id, name] of [
      ['a', 'Zebra'],
      ['b', 'apple'],
      ['c', 'Apple 2'],
    ]) {
      await call('POST', '/allowlists', { body: { id, name, type: 'FIXA' } })
    }
    const first = (await call('GET', '/allowlists?search=APPLE&sort=name&order=desc&limit=1')).json
    assert.deepEqual([first.items[0].id, first.total], ['c', 2])
    const path = `/allowlists?search=APPLE&sort=name&order=desc&limit=1&cursor=${first.nextCursor}`
    const second = (await call('GET', path)).json
    assert.deepEqual([second.items[0].id, second.nextCursor], ['b', undefined])
    assert.equal((await call('GET', '/allowlists')).json.total, undefined)
    const wrong = await call('GET', '/allowlists?sort=salt')
    assert.deepEqual([wrong.status, wrong.json.errors[0].path], [400, 'sort'])
  })
})

describe('lists of limit configurations', () => {
  it('name level, identifier and resource, page by page', async (t) => {
    const { call } = await start(t)
    const body = { limits: { rpm: LIMIT } }
    await call('PUT', '/config/system/chat', { body })
    await call('PUT', '/config/resources/chat', { body })
    for (const entity of ['u:1', 'u2']) await call('PUT', `/config/entities/${entity}/chat`, { body })
    await call('PUT', '/config/entities/u2/mail', { body })
    const system = await call('GET', '/config/system')
    assert.deepEqual(system.json, { items: [{ level: 'system', resource: 'chat', config: body }] })
    assert.equal((await call('GET', '/config/resources')).json.items[0].level, 'resource')
    const page = (await call('GET', '/config/entities?limit=2')).json
    assert.equal(page.items.length, 2)
    const rest = (await call('GET', `/config/entities?limit=2&cursor=${page.nextCursor}`)).json
    const names = [...page.items, ...rest.items].map(
      ({ identifier, resource }) => `${identifier} ${resource}`,
    )
    assert.deepEqual(names.sort(), ['u2 chat', 'u2 mail', 'u:1 chat'])
    const mail = (await call('GET', '/config/entities?resource=mail')).json
    assert.deepEqual(mail.items, [{ level: 'entity', identifier: 'u2', resource: 'mail', config: body }])
    assert.equal((await call('GET', '/config/entities?cursor=nonsense')).status, 400)
  })
})

describe('GET /limits/denied', () => {
  it('tells the most denied first, those denied from memory included, of the last hour', async (t) => {
    const { call, clock, catraca } = await start(t)
    await call('PUT', '/config/resources/chat', { body: { limits: { rpm: LIMIT } } })
    await call('PUT', '/config/resources/mail', { body: { limits: { rpm: LIMIT } } })
    const ask = async (entity: string, resource: string, times: number) => {
      for (let i = 0; i < times; i++) await catraca.limits.acquire({ entity, resource })
    }
    await ask('ann', 'chat', 4)
    await ask('bob', 'chat', 6)
    await ask('bob', 'mail', 2)
    const { status, json } = await call('GET', '/limits/denied')
    assert.equal(status, 200)
    assert.deepEqual(json.items, [
      { entity: 'bob', resource: 'chat', limit: 'rpm', denied: 5 },
      { entity: 'ann', resource: 'chat', limit: 'rpm', denied: 3 },
      { entity: 'bob', resource: 'mail', limit: 'rpm', denied: 1 },
    ])
    assert.equal(json.since, '2030-01-01T00:00:00.000Z')
    const one = (await call('GET', '/limits/denied?resource=mail&limit=1')).json
    assert.deepEqual(one.items, [{ entity: 'bob', resource: 'mail', limit: 'rpm', denied: 1 }])
    clock.advance(30 * 60_000)
    await ask('ann', 'chat', 2)
    assert.equal((await call('GET', '/limits/denied?limit=1')).json.items[0].denied, 5)
    clock.advance(31 * 60_000)
    const later = (await call('GET', '/limits/denied')).json
    assert.deepEqual(later.items, [{ entity: 'ann', resource: 'chat', limit: 'rpm', denied: 1 }])
    assert.equal((await call('GET', '/limits/denied?limit=101')).status, 400)
  })
})

describe('a one-time code that somebody needs help with', () => {
  it('is told of without the code, and revoked with its lock', async (t) => {
    const { call } = await start(t)
    const body = { address: 'Ann@example.com', purpose: 'login' }
    const status = async () => (await call('POST', '/otp/email/status', { body })).json
    const verify = async (code: string) =>
      (await call('POST', '/otp/email/verify', { body: { ...body, code } })).json
    assert.deepEqual(await status(), { pending: false, failures: 0 })
    const { code } = (await call('POST', '/otp/email', { body })).json
    const wrong = code === '000000' ? '000001' : '000000'
    await verify(wrong)
    const seen = await call('POST', '/otp/email/status', { body })
    assert.deepEqual(seen.json, { pending: true, expiresAt: '2030-01-01T00:10:00.000Z', failures: 1 })
    assert.ok(!seen.text.includes(code))
    for (let i = 0; i < 9; i++) await verify(wrong)
    assert.equal((await verify(code)).reason, 'LOCKED')
    const locked = await status()
    assert.deepEqual([locked.pending, locked.failures], [false, 10])
    assert.equal(locked.lockedUntil, '2030-01-01T00:15:00.000Z')
    assert.deepEqual((await call('POST', '/otp/email/revoke', { body })).json, { revoked: true })
    assert.deepEqual(await status(), { pending: false, failures: 0 })
    assert.deepEqual((await call('POST', '/otp/email/revoke', { body })).json, { revoked: false })
    assert.deepEqual(await verify(code), { valid: false, reason: 'INVALID' })
  })
})

describe('GET /revoked-subjects/{subject}', () => {
  it('tells from when on and until when tokens are revoked', async (t) => {
    const { call } = await start(t)
    assert.deepEqual((await call('GET', '/revoked-subjects/ann')).json, { revoked: false })
    const mark = { notBefore: '2030-01-01T00:00:00.000Z', expiresAt: '2030-01-02T00:00:00.000Z' }
    await call('PUT', '/revoked-subjects/ann', { body: mark })
    assert.deepEqual((await call('GET', '/revoked-subjects/ann')).json, { revoked: true, ...mark })
  })
})

describe('rejected rows of an import', () => {
  const rows = Array.from({ length: 150 }, (_, i) => `bad row ${i} ${'é'.repeat(300)}`).join('\n')
  const headers = { 'content-type': 'text/plain' }

  it('are told with their text, as many as asked for', async (t) => {
    const { call } = await start(t)
    await call('POST', '/allowlists', { body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
    const path = '/allowlists/vip/import'
    const { json } = await call('POST', `${path}?maxErrors=120`, { headers, body: rows })
    assert.deepEqual([json.rejected, json.firstErrors.length], [150, 120])
    const { line, message, row } = json.firstErrors[1]
    assert.equal(line, 2)
    assert.match(message, /^customerId must be/)
    assert.equal(row, `bad row 1 ${'é'.repeat(246)}`)
    assert.equal((await call('POST', path, { headers, body: rows })).json.firstErrors.length, 100)
    assert.equal((await call('POST', `${path}?maxErrors=1001`, { headers, body: rows })).status, 400)
  })

  it('are told by the status of one in the background too', async (t) => {
    const { call } = await start(t)
    await call('POST', '/allowlists', { body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
    const path = '/allowlists/vip/import?async=1&maxErrors=130&importId=one'
    assert.equal((await call('POST', path, { headers, body: rows })).status, 202)
    const status = () => call('GET', '/allowlists/vip/imports/one')
    await until('it is imported', async () => (await status()).json.state === 'completed')
    const { firstErrors } = (await status()).json
    assert.equal(firstErrors.length, 130)
    assert.match(firstErrors[129].row, /^bad row 129 é/)
  })
})
