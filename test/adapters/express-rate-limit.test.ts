import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import express from 'express'
import { type Options, rateLimit } from 'express-rate-limit'
import { CatracaStore } from '../../src/adapters/express-rate-limit.js'
import { encodeIdentifier } from '../../src/core/encode-identifier.js'
import type { Catraca } from '../../src/index.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle, until } from '../support/redis/index.js'
import { newName, openPlaces, PLACES } from './frameworks.js'

const opened = openPlaces()
/** So long that no window ends in a test, wherever the clock stands in it: windows begin at fixed times. */
const WINDOW_MS = 366 * 24 * 3600 * 1000

type Ask = (user: string, path?: string) => Promise<Response>

async function serve(t: TestContext, options: Partial<Options>): Promise<Ask> {
  const app = express()
  const keyGenerator: Options['keyGenerator'] = (request) => request.get('x-user')!
  const logger = { error: () => {}, warn: () => {} }
  app.use(rateLimit({ windowMs: WINDOW_MS, limit: 2, keyGenerator, logger, ...options }))
  app.get('/fails', (_, response) => void response.status(401).send('no'))
  app.get('/', (_, response) => void response.send('passed'))
  app.use(((error, _, response, __) => {
    response.status(500).send(String(error.message))
  }) as express.ErrorRequestHandler)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return (user, path = '/') => fetch(url + path, { headers: { 'x-user': user } })
}

const statuses = async (ask: Ask, user: string, paths: readonly string[]) => {
  const found: number[] = []
  for (const path of paths) found.push((await ask(user, path)).status)
  return found
}

describe('the store of express-rate-limit', () => {
  for (const place of PLACES) {
    it(`${place}: counts, denies, tells and forgets`, async (t) => {
      const resource = newName()
      const store = new CatracaStore({ catraca: opened.guards[place], resource })
      const ask = await serve(t, { store, standardHeaders: 'draft-6' })
      const user = 'auth0|a~b/é'
      const seen: unknown[] = []
      for (let i = 0; i < 4; i++) {
        const { status, headers } = await ask(user)
        seen.push([status, headers.get('ratelimit-remaining')])
      }
      assert.deepEqual(seen, [
        [200, '1'],
        [200, '0'],
        [429, '0'],
        [429, '0'],
      ])
      assert.equal((await ask('bob')).status, 200)
      const stored = await opened.catraca.limits.status(encodeIdentifier(user), resource, {
        limits: {
          window: { capacity: 2, refillPeriodSeconds: WINDOW_MS / 1000, algorithm: 'fixed-window' },
        },
      })
      assert.equal(stored.limits.window!.remaining, 0)
      const info = await store.get(user)
      assert.equal(info!.totalHits, 2)
      assert.ok(info!.resetTime!.getTime() > Date.now())
      assert.equal(await store.get('nobody'), undefined)
      await store.resetKey(user)
      assert.equal((await ask(user)).status, 200)
    })

    it(`${place}: takes back requests that are not to count`, async (t) => {
      const resource = newName()
      const catraca = opened.guards[place]
      const store = new CatracaStore({ catraca, resource })
      const failed = await serve(t, { store, skipFailedRequests: true })
      const hits = async (of: CatracaStore) => (await of.get('ann'))?.totalHits ?? 0
      for (let i = 0; i < 3; i++) {
        assert.equal((await failed('ann', '/fails')).status, 401)
        await until('it is taken back', async () => (await hits(store)) === 0)
      }
      // A denied request took nothing: when it is taken back too, the others stay counted.
      assert.deepEqual(await statuses(failed, 'ann', ['/', '/', '/', '/', '/']), [200, 200, 429, 429, 429])
      assert.equal(await hits(store), 2)

      const other = new CatracaStore({ catraca, resource: newName() })
      const passed = await serve(t, { store: other, skipSuccessfulRequests: true })
      for (let i = 0; i < 3; i++) {
        assert.equal((await passed('ann')).status, 200)
        await until('it is taken back', async () => (await hits(other)) === 0)
      }
      assert.deepEqual(await statuses(passed, 'ann', ['/fails', '/fails', '/']), [401, 401, 429])
      assert.equal(await hits(other), 2)
    })
  }

  it('refuses what it cannot count, with the name of the option', async (t) => {
    const { catraca } = opened
    const wrong: [Partial<Options>, RegExp][] = [
      [{ limit: () => 5 }, /limit must be a number: a store cannot know the limit of a request/],
      [{ limit: 0 }, /limit must be a whole number from 1/],
      [{ windowMs: 1500 }, /windowMs must be whole seconds/],
    ]
    for (const [options, message] of wrong) {
      const logged: unknown[] = []
      const logger = { error: (error: unknown) => void logged.push(error), warn: () => {} }
      const store = new CatracaStore({ catraca, resource: newName() })
      const ask = await serve(t, { store, logger, ...options })
      assert.match(String(logged[0]), message)
      // express-rate-limit goes on, but no request passes.
      const answer = await ask('ann')
      assert.deepEqual([answer.status, message.test(await answer.text())], [500, true])
    }
    assert.throws(() => new CatracaStore({ catraca, resource: 'a:b' }), /resource/)
    assert.throws(() => new CatracaStore({ resource: 'a' } as never), /catraca is required/)
    assert.throws(() => new CatracaStore({ catraca, resorce: 'a' } as never), /did you mean resource/)
  })
})

describe('the store of express-rate-limit on Redis', () => {
  let redis: RedisServers
  let instances: Catraca[] = []
  before(async () => {
    redis = await startSingle()
    instances = await Promise.all([0, 1].map(() => openPatiently({ store: redis.storeUrl })))
  })
  after(async () => {
    for (const instance of instances) await instance.close()
    await redis.stop()
  })

  it('two instances let exactly the limit pass', async (t) => {
    const asks: Ask[] = []
    for (const catraca of instances) {
      asks.push(await serve(t, { store: new CatracaStore({ catraca, resource: 'api' }), limit: 10 }))
    }
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => asks[i % 2]!('ann')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 10)
    assert.equal(answers.filter(({ status }) => status === 429).length, 20)
  })
})
