import 'reflect-metadata'
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { Controller, Get, type INestApplication, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { Throttle, ThrottlerGuard, ThrottlerModule, type ThrottlerOptions } from '@nestjs/throttler'
import { CatracaThrottlerStorage } from '../../src/adapters/throttler.js'
import type { Catraca } from '../../src/index.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'
import { newName, openPlaces, PLACES } from './frameworks.js'

const opened = openPlaces()
/** So long that no window ends in a test, wherever the clock stands in it: windows begin at fixed times. */
const TTL_MS = 366 * 24 * 3600 * 1000

type Ask = (user: string, path?: string) => Promise<Response>

/** Decorators are functions: the build of this repository does not know their syntax. */
function decorate(decorator: MethodDecorator, type: { prototype: object }, name: string): void {
  decorator(type.prototype, name, Object.getOwnPropertyDescriptor(type.prototype, name)!)
}

async function serve(
  t: TestContext,
  storage: CatracaThrottlerStorage,
  options: Partial<ThrottlerOptions> = {},
): Promise<Ask> {
  class Routes {
    all() {
      return 'passed'
    }
    strict() {
      return 'passed'
    }
  }
  decorate(Get('/'), Routes, 'all')
  decorate(Get('/strict'), Routes, 'strict')
  decorate(Throttle({ default: { limit: 1 } }), Routes, 'strict')
  Controller()(Routes)
  class App {}
  const getTracker = async ({ headers }: { headers?: Record<string, string> }) => headers!['x-user']!
  const throttlers = [{ ttl: TTL_MS, limit: 2, ...options }]
  Module({
    imports: [ThrottlerModule.forRoot({ throttlers, storage, getTracker })],
    controllers: [Routes],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })(App)
  const app: INestApplication = await NestFactory.create(App, { logger: false })
  await app.listen(0, '127.0.0.1')
  t.after(() => app.close())
  const url = await app.getUrl()
  return (user, path = '/') => fetch(url + path, { headers: { 'x-user': user } })
}

describe('the storage of @nestjs/throttler', () => {
  for (const place of PLACES) {
    it(`${place}: counts and denies, each route and tracker for itself`, async (t) => {
      const storage = new CatracaThrottlerStorage({ catraca: opened.guards[place], resource: newName() })
      const ask = await serve(t, storage)
      const seen: unknown[] = []
      for (let i = 0; i < 4; i++) {
        const { status, headers } = await ask('ann')
        seen.push([status, headers.get('x-ratelimit-remaining'), Number(headers.get('retry-after')) > 0])
      }
      assert.deepEqual(seen, [
        [200, '1', false],
        [200, '0', false],
        [429, null, true],
        [429, null, true],
      ])
      const others = [await ask('bob'), await ask('ann', '/strict'), await ask('ann', '/strict')]
      assert.deepEqual(
        others.map(({ status }) => status),
        [200, 200, 429],
      )
    })
  }

  it('a limit may be a function of the request', async (t) => {
    const storage = new CatracaThrottlerStorage({ catraca: opened.catraca, resource: newName() })
    const limit: ThrottlerOptions['limit'] = (context) =>
      context.switchToHttp().getRequest().headers['x-user'] === 'vip' ? 3 : 1
    const ask = await serve(t, storage, { limit })
    const passed = async (user: string) => {
      const answers = [await ask(user), await ask(user), await ask(user), await ask(user)]
      return answers.filter(({ status }) => status === 200).length
    }
    assert.deepEqual([await passed('vip'), await passed('ann')], [3, 1])
  })

  it('refuses what it cannot count, with the name of the option', async () => {
    const { catraca } = opened
    const storage = new CatracaThrottlerStorage({ catraca, resource: newName() })
    await assert.rejects(storage.increment('k', 1500, 1, 1500, 'default'), /ttl must be whole seconds/)
    await assert.rejects(storage.increment('k', 1000, 0, 1000, 'default'), /limit must be a whole number/)
    await assert.rejects(storage.increment('k', 1000, 1, 5000, 'default'), /blockDuration must be left out/)
    assert.equal((await storage.increment('k', TTL_MS, 1, 0, 'default')).isBlocked, false)
    assert.throws(() => new CatracaThrottlerStorage({ catraca, resource: 'a:b' }), /resource/)
    assert.throws(() => new CatracaThrottlerStorage({ resource: 'a' } as never), /catraca is required/)
  })
})

describe('the storage of @nestjs/throttler on Redis', () => {
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
      asks.push(await serve(t, new CatracaThrottlerStorage({ catraca, resource: 'api' }), { limit: 10 }))
    }
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => asks[i % 2]!('ann')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 10)
    assert.equal(answers.filter(({ status }) => status === 429).length, 20)
  })
})
