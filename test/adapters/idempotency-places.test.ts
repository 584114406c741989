import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FRAMEWORKS, headerOf, newName, openPlaces, PLACES } from './frameworks.js'

const post = (key: string, body: object = { amount: 1 }): RequestInit => ({
  method: 'POST',
  headers: { 'idempotency-key': key, 'content-type': 'application/json', 'x-customer': 'ann' },
  body: JSON.stringify(body),
})

const opened = openPlaces()

describe('adapters of idempotency, on an instance and on a server', () => {
  for (const [framework, start] of Object.entries(FRAMEWORKS)) {
    if (framework === 'node:http') continue
    for (const place of PLACES) {
      it(`${framework}, ${place}: execute once, replay, and refuse another request`, async (t) => {
        const { catraca } = opened
        const operation = newName()
        let runs = 0
        const ask = await start(t, { idempotency: { catraca: opened.guards[place], operation } }, () => {
          runs++
          return runs === 3 ? { status: 500, body: 'down' } : { status: 201, body: `paid ${runs}` }
        })
        const first = await ask('/', post('k1'))
        assert.deepEqual(
          [first.status, await first.text(), first.headers.get('idempotency-replayed')],
          [201, 'paid 1', null],
        )
        const again = await ask('/', post('k1'))
        assert.deepEqual(
          [again.status, await again.text(), again.headers.get('idempotency-replayed')],
          [201, 'paid 1', 'true'],
        )
        assert.equal((await ask('/', post('k1', { amount: 2 }))).status, 422)
        assert.equal(runs, 1)
        const burst = await Promise.all(Array.from({ length: 5 }, () => ask('/', post('k2'))))
        for (const { status } of burst) assert.ok(status === 201 || status === 409, String(status))
        assert.equal(runs, 2)
        // A failure may be tried again, as another attempt of the same record.
        assert.equal((await ask('/', post('k3'))).status, 500)
        assert.equal((await ask('/', post('k3'))).status, 201)
        const record = await catraca.idempotency.get({ operation, key: 'k3' })
        assert.deepEqual([record?.status, record?.attempt], ['COMPLETED', 2])
      })
    }

    it(`${framework}: what another guard refuses is not recorded`, async (t) => {
      const { catraca } = opened
      const [operation, list] = [newName(), newName()]
      await catraca.allowlists.create({ id: list, name: 'Beta', type: 'FIXA' })
      const customer = (request: unknown) => headerOf(request, 'x-customer')
      const ask = await start(t, {
        allow: { catraca, lists: [list], customer },
        idempotency: { catraca, operation },
      })
      assert.equal((await ask('/', post('k1'))).status, 403)
      assert.equal(await catraca.idempotency.get({ operation, key: 'k1' }), undefined)
      await catraca.allowlists.add(list, 'ann')
      assert.equal((await ask('/', post('k1'))).status, 200)
    })
  }
})
