import 'reflect-metadata'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Catraca } from 'catraca'
import { CATRACA } from 'catraca/nestjs'

describe('payments', () => {
  let app: INestApplication
  let url: string
  before(async () => {
    process.env.CATRACA_STORE = 'memory:'
    const { AppModule } = await import('../src/app.module.js')
    app = await NestFactory.create(AppModule, { logger: false })
    await app.listen(0, '127.0.0.1')
    url = await app.getUrl()
  })
  after(() => app.close())

  const pay = (customer: string, key: string, amount: number, path = '/payments') =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-customer': customer, 'idempotency-key': key },
      body: JSON.stringify({ to: 'shop', amount }),
    })
  const balance = async (customer: string) => {
    const answer = await fetch(`${url}/balance`, { headers: { 'x-customer': customer } })
    return ((await answer.json()) as { balance: number }).balance
  }

  it('are executed once', async () => {
    const answers = [await pay('ann', 'a', 10), await pay('ann', 'a', 10)]
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')]),
      [
        [201, null],
        [201, 'true'],
      ],
    )
    assert.equal(await balance('ann'), 90)
    assert.equal((await pay('ann', 'a', 11)).status, 422)
  })

  it('never spend more than there is', async () => {
    assert.equal(await balance('bob'), 100)
    const answers = await Promise.all(['1', '2', '3'].map((key) => pay('bob', key, 40)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 422])
    assert.equal(await balance('bob'), 20)
  })

  it('are limited by customer', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 21; i++) statuses.push((await pay('eve', `k${i}`, 1)).status)
    assert.deepEqual([statuses.filter((status) => status === 201).length, statuses.at(-1)], [20, 429])
    assert.equal((await pay('dan', 'd', 1)).status, 201)
  })

  it('may be instant for those on a list', async () => {
    const catraca = app.get<Catraca>(CATRACA)
    await catraca.allowlists.create({ id: 'instant', name: 'Instant payments', type: 'FIXA' })
    assert.equal((await pay('zoe', 'z', 1, '/payments/instant')).status, 403)
    const { token } = await catraca.allowlists.add('instant', 'zoe')
    await catraca.allowlists.check('zoe', ['instant'], { atLeast: token })
    assert.equal((await pay('zoe', 'z', 1, '/payments/instant')).status, 201)
  })

  it('are healthy', async () => {
    assert.equal((await fetch(`${url}/health`)).status, 200)
  })
})
