import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Body, Controller, Get, Inject, Injectable, Param, Post } from '@nestjs/common'
import { of } from 'rxjs'
import { openCatraca } from '../../src/index.js'
import { type AnyCatraca, Cached, Fence, InjectCatraca, Locked, LockSignal } from '../../src/nestjs/index.js'
import { connectCatraca } from '../../src/remote/index.js'
import { createLogger } from '../../src/server/http/logger.js'
import { startServer } from '../../src/server/index.js'
import { newName, openPlaces, PLACES } from '../adapters/frameworks.js'
import { until } from '../support/redis/process.js'
import { NAMES, post, problemOf, startNest } from './applications.js'

const opened = openPlaces()

/** Resolves when the test says so. */
function gate() {
  let open = () => {}
  const opening = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opening, open: () => open() }
}

for (const platform of NAMES) {
  for (const place of PLACES) {
    it(`@Locked on ${platform}, ${place}: one at a time, with fence and signal, in controllers and services`, async (t) => {
      const prefix = newName()
      const { opening, open } = gate()
      const seen: unknown[] = []
      @Injectable()
      class Ledger {
        @Locked((account: string) => [`${prefix}:${account}`, `${prefix}:all`], { ttlMs: 60_000, waitMs: 0 })
        async close(account: string, @LockSignal() signal?: AbortSignal) {
          return [account, signal?.aborted]
        }
      }
      @Controller()
      class Routes {
        constructor(@Inject(Ledger) private readonly ledger: Ledger) {}

        @Locked(({ account }) => `${prefix}:${account}`, { waitMs: 0 })
        @Post('/above')
        async pay(@Body() body: { account: string }, @Fence() fence?: number) {
          seen.push(body.account)
          if (body.account === 'slow') await opening
          return { fence }
        }
        @Post('/below')
        @Locked(`${prefix}:fixed`)
        async first(@Fence() fence: number, @Body('text') text: string) {
          return { fence, text }
        }
        @Get('/service/:account')
        async service(@Param('account') account: string) {
          return this.ledger.close(account)
        }
        @Get('/fails')
        @Locked(`${prefix}:fails`)
        async fails() {
          throw new Error('of the work')
        }
      }
      const { ask } = await startNest(
        t,
        platform,
        { catraca: opened.guards[place] },
        {
          controllers: [Routes],
          providers: [Ledger],
        },
      )
      const slow = ask(...post('/above', { account: 'slow' }))
      await until('it holds the lock', () => seen.length === 1)
      const held = await ask(...post('/above', { account: 'slow' }))
      assert.deepEqual([held.status, (await problemOf(held)).code], [409, 'LOCK_HELD'])
      assert.equal((await ask('/service/slow')).status, 409)
      open()
      const { fence } = (await (await slow).json()) as { fence: number }
      const next = (await (await ask(...post('/above', { account: 'slow' }))).json()) as { fence: number }
      assert.ok(fence > 0 && next.fence > fence, `${fence}, then ${next.fence}`)
      const below = (await (await ask(...post('/below', { text: 'x' }))).json()) as {
        fence: number
        text: string
      }
      assert.deepEqual([below.fence > 0, below.text], [true, 'x'])
      assert.deepEqual(await (await ask('/service/a%2Fb')).json(), ['a/b', false])
      assert.equal((await ask('/fails')).status, 500)
      // The lock is free again.
      assert.equal((await opened.catraca.locks.status(`${prefix}:fails`)).held, false)
      assert.equal((await ask(...post('/above', { account: 'x'.repeat(300) }))).status, 400)
    })
  }
}

describe('@Cached', () => {
  it('loads once for all callers, in services and controllers, until it is deleted', async (t) => {
    const name = newName()
    const { opening, open } = gate()
    let loads = 0
    @Injectable()
    class Accounts {
      constructor(@InjectCatraca() private readonly catraca: AnyCatraca) {}

      @Cached({ name, ttlMs: 60_000, jitter: 0 })
      async find(id: string, page: number) {
        loads++
        await opening
        return { id, page, loads }
      }
      async forget(id: string) {
        const { cache } = this.catraca as typeof opened.catraca
        await cache.space({ name, ttlMs: 60_000, jitter: 0 }).delete(`${id}:1`)
      }
    }
    let views = 0
    @Controller()
    class Routes {
      constructor(@Inject(Accounts) private readonly accounts: Accounts) {}

      @Get('/accounts/:id')
      async get(@Param('id') id: string) {
        return this.accounts.find(id, 1)
      }
      @Post('/accounts/:id')
      async change(@Param('id') id: string) {
        await this.accounts.forget(id)
      }
      @Cached({ name: newName(), ttlMs: 60_000 }, { key: (id: string) => id, ttlMs: () => 1000 })
      @Get('/view/:id')
      async view(@Param('id') id: string) {
        return { id, views: ++views }
      }
    }
    const { ask, app } = await startNest(
      t,
      'Express',
      { catraca: opened.catraca },
      {
        controllers: [Routes],
        providers: [Accounts],
      },
    )
    const get = async (path: string) => (await ask(path)).json()
    const all = Promise.all([1, 2, 3].map(() => get('/accounts/ann')))
    await until('it loads', () => loads > 0)
    open()
    assert.deepEqual(
      await all,
      [1, 2, 3].map(() => ({ id: 'ann', page: 1, loads: 1 })),
    )
    await ask('/accounts/ann', { method: 'POST' })
    assert.deepEqual(await get('/accounts/ann'), { id: 'ann', page: 1, loads: 2 })
    assert.deepEqual(await get('/accounts/b:c'), { id: 'b:c', page: 1, loads: 3 })
    assert.deepEqual(
      [await get('/view/x'), await get('/view/x')],
      [1, 1].map((n) => ({ id: 'x', views: n })),
    )
    opened.clock.advance(1001)
    assert.deepEqual(await get('/view/x'), { id: 'x', views: 2 })
    assert.equal((await ask(`/view/${'y'.repeat(300)}`)).status, 400)
    await assert.rejects(app.get(Accounts).find({} as never, 1), /find needs a key/)
    await assert.rejects(new Accounts(opened.catraca).find('a', 1), /needs an object that Nest has made/)
  })

  it('refuses two methods that would get values of each other', () => {
    const name = newName()
    const decorate = (
      type: { prototype: object },
      space: Parameters<typeof Cached>[0],
      key?: () => string,
    ) => {
      const method = Object.getOwnPropertyDescriptor(type.prototype, 'find')!
      Cached(space, key && { key })(type.prototype, 'find', method)
    }
    class One {
      async find() {}
    }
    class Two {
      async find() {}
    }
    decorate(One, name)
    assert.throws(() => decorate(Two, name), /key must be given: One.find and Two.find both cache in/)
    decorate(Two, name, () => 'two')
    assert.throws(() => decorate(Two, { name: 'other' } as never), /ttlMs must be given/)
  })

  it('refuses a class with the name of another, which would get its values', async (t) => {
    const space = { name: newName(), ttlMs: 60_000 }
    const classOf = (value: string) => {
      @Injectable()
      class Accounts {
        @Cached(space)
        async find(_: string) {
          return value
        }
      }
      return Accounts
    }
    const [One, Two] = [classOf('one'), classOf('two')] as const
    class Later extends One {}
    const { app } = await startNest(
      t,
      'Express',
      { catraca: opened.catraca },
      { controllers: [], providers: [One, Two, Later] },
    )
    assert.equal(await app.get(One).find('a'), 'one')
    await assert.rejects(app.get(Two).find('a'), /key must be given: two classes are called Accounts/)
    assert.equal(await app.get(Later).find('a'), 'one')
  })

  it('stands on methods of objects that give promises', async (t) => {
    const wrong = (decorator: (target: object, name: string, method: PropertyDescriptor) => void) => {
      class Accounts {
        static async find() {}
        own = 1
      }
      decorator(Accounts, 'find', Object.getOwnPropertyDescriptor(Accounts, 'find')!)
    }
    assert.throws(() => wrong(Cached({ name: newName(), ttlMs: 1000 }) as never), /find is static/)
    assert.throws(() => wrong(Locked('one') as never), /find is static/)
    @Injectable()
    class Ledger {
      @Locked(newName())
      pay(): Promise<unknown> {
        return of(1) as never
      }
      @Cached({ name: newName(), ttlMs: 1000 })
      async find() {
        return of(1)
      }
    }
    const { app } = await startNest(
      t,
      'Express',
      { catraca: opened.catraca },
      { controllers: [], providers: [Ledger] },
    )
    await assert.rejects(app.get(Ledger).pay(), /Ledger.pay gives an Observable/)
    await assert.rejects(app.get(Ledger).find(), /Ledger.find gives an Observable/)
  })

  it('takes spaces of the configuration, of an instance or a server', async (t) => {
    const catraca = await openCatraca({
      store: 'memory:',
      cache: { spaces: [{ name: 'entries', ttlMs: 60_000 }] },
    })
    const server = await startServer(catraca, { port: 0, logger: createLogger('silent') })
    t.after(async () => {
      await server.stop()
      await catraca.close()
    })
    const remote = connectCatraca({ url: server.url, timeoutMs: 60_000 })
    let loads = 0
    @Controller()
    class Routes {
      @Get(':id')
      @Cached('entries', { key: (id: string) => id })
      async get(@Param('id') id: string) {
        loads++
        if (id === 'fails') throw new Error('of the source')
        return id === 'none' ? undefined : { id, loads }
      }
    }
    for (const given of [catraca, remote]) {
      const { ask } = await startNest(t, 'Fastify', { catraca: given }, { controllers: [Routes] })
      const answers = await Promise.all([1, 2, 3].map(async () => (await ask('/ann')).json()))
      assert.deepEqual(
        answers,
        [1, 2, 3].map(() => ({ id: 'ann', loads: 1 })),
      )
      const before = loads
      assert.equal((await ask('/fails')).status, 500)
      assert.equal((await ask('/fails')).status, 500)
      assert.equal(loads, before + 2)
      assert.equal(await (await ask('/none')).text(), '')
      loads = 1
    }
    await remote.cache.delete('entries', 'ann')
    const { ask } = await startNest(t, 'Express', { catraca: remote }, { controllers: [Routes] })
    assert.deepEqual(await (await ask('/ann')).json(), { id: 'ann', loads: 2 })
    assert.throws(() => remote.cache.space({ name: 'entries' } as never), /must be the name of a space/)
  })
})
