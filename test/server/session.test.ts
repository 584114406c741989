import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SCOPES } from '../../src/guards/access/scopes.js'
import { bearer, serve, until } from './support.js'

describe('GET /session', () => {
  it('lets a console without keys do everything', async (t) => {
    const server = await serve(t)
    const { status, json } = await server.call('GET', '/session')
    const { version, ...session } = json
    assert.equal(status, 200)
    assert.match(version, /^\d+\.\d+\.\d+/)
    assert.deepEqual(session, { name: null, scopes: [...SCOPES], keysRequired: false, store: 'memory:' })
    const foreign = await server.call('GET', '/session', { headers: { origin: 'https://evil.example' } })
    assert.equal(foreign.status, 403)
  })

  it('tells whose key it is and what it may do, whatever its scope', async (t) => {
    const server = await serve(t)
    const keys = server.catraca.keys
    const issuer = await keys.create({ name: 'mailer', scopes: ['codes:issue'] })
    const admin = await keys.create({ name: 'root', scopes: ['admin'] })
    const ask = (key: string) => server.call('GET', '/session', { headers: bearer(key) })
    const of = async (key: string) => (await ask(key)).json
    await until('the later key is known', async () => (await ask(admin.key)).status === 200)
    const { version: _, ...session } = await of(issuer.key)
    assert.deepEqual(session, { name: 'mailer', scopes: ['codes:issue'], keysRequired: true })
    const { scopes, store } = await of(admin.key)
    assert.deepEqual([scopes.sort(), store], [['admin', 'check', 'read'], 'memory:'])
    assert.equal((await server.call('GET', '/session')).status, 401)
    assert.equal((await server.call('GET', '/session', { headers: bearer('nobody') })).status, 401)
  })
})
