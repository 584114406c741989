import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allow } from '../../src/adapters/express.js'
import { connectCatraca } from '../../src/remote/index.js'
import { FRAMEWORKS, headerOf, newName, openPlaces, PLACES, pathOf } from './frameworks.js'

const customer = (request: unknown) => headerOf(request, 'x-customer')
const as = (id: string): RequestInit => ({ headers: { 'x-customer': id } })

const opened = openPlaces()

describe('adapters of allowlists', () => {
  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    for (const place of PLACES) {
      it(`${name}, ${place}: pass customers of all lists, and nobody else`, async (t) => {
        const { catraca } = opened
        const guards = opened.guards[place]
        const [beta, paid, gone] = [newName(), newName(), newName()]
        for (const id of [beta, paid]) {
          await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
          await catraca.allowlists.add(id, 'ann')
        }
        await catraca.allowlists.add(beta, 'bob')
        await catraca.allowlists.add(beta, 'auth0~7c1')
        const told: string[] = []
        const lists = (request: unknown) =>
          pathOf(request) === '/paid' ? [beta, paid] : pathOf(request) === '/gone' ? [gone] : [beta]
        const skip = (request: unknown) => pathOf(request) === '/health'
        const report = (message: string) => told.push(message)
        const ask = await start(t, { allow: { catraca: guards, lists, customer, skip, report } })
        const status = async (path: string, init?: RequestInit) => (await ask(path, init)).status
        assert.deepEqual([await status('/', as('ann')), await status('/', as('bob'))], [200, 200])
        assert.equal(await status('/', as('auth0|1')), 200)
        assert.deepEqual([await status('/paid', as('ann')), await status('/paid', as('bob'))], [200, 403])
        const stranger = await ask('/', as('carol'))
        assert.deepEqual(
          [stranger.status, ((await stranger.json()) as { code: string }).code],
          [403, 'CUSTOMER_NOT_ALLOWED'],
        )
        // Who has no name is nobody's customer.
        assert.deepEqual([await status('/'), await status('/health')], [403, 200])
        assert.equal(await status('/', as('x'.repeat(257))), 400)
        assert.deepEqual(told, [])
        assert.equal(await status('/gone', as('ann')), 403)
        assert.deepEqual(told, [`the allowlist ${gone} does not exist: nobody passes`])
      })
    }

    it(`${name}: answer 503 when nobody can decide, or as the service says`, async (t) => {
      const catraca = connectCatraca({ url: 'http://127.0.0.1:1' })
      const options = { catraca, lists: ['beta'], customer }
      const status = async (more: object) =>
        (await (await start(t, { allow: { ...options, ...more } }))('/', as('a'))).status
      assert.deepEqual([await status({}), await status({ onUnavailable: 'allow' })], [503, 200])
    })

    it(`${name}: let the service write the refusal`, async (t) => {
      const denial = () => ({ status: 404, body: { error: 'no such page' } })
      const report = () => {}
      const ask = await start(t, {
        allow: { catraca: opened.catraca, lists: [newName()], customer, denial, report },
      })
      const refused = await ask('/', as('ann'))
      assert.deepEqual([refused.status, await refused.json()], [404, { error: 'no such page' }])
    })
  }

  it('no list is a mistake', () => {
    const { catraca } = opened
    assert.throws(() => allow({ catraca, lists: [], customer: () => 'a' }), /lists must name a list/)
    assert.throws(() => allow({ catraca, list: ['a'] } as never), /did you mean lists/)
  })
})
