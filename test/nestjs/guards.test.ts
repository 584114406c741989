import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Module,
  UseGuards,
} from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import type { Limits } from '../../src/index.js'
import {
  Allow,
  CatracaException,
  CatracaModule,
  Limit,
  limitGuard,
  type NestRequest,
  RevokedTokens,
} from '../../src/nestjs/index.js'
import { newName, openPlaces, PLACES } from '../adapters/frameworks.js'
import { until } from '../support/redis/process.js'
import { type Ask, NAMES, problemOf, startNest } from './applications.js'

const opened = openPlaces()
const TWO: Limits = { rpm: { capacity: 2, refillPeriodSeconds: 60 } }
const byUser = ({ headers }: NestRequest): string | undefined => headers['x-user']
const as = (user: string): RequestInit => ({ headers: { 'x-user': user } })

const statuses = async (ask: Ask, path: string, user: string, times: number) => {
  const found: number[] = []
  for (let i = 0; i < times; i++) found.push((await ask(path, as(user))).status)
  return found
}

for (const platform of NAMES) {
  for (const place of PLACES) {
    describe(`guards of Nest on ${platform}, ${place}`, () => {
      it('limit, with headers and a problem, on controllers and routes together', async (t) => {
        const [ofAll, ofRoute, ofAddress] = [newName(), newName(), newName()]
        @Controller()
        @Limit({ resource: ofAll, entity: byUser, limits: TWO, skip: ({ url }) => url === '/health' })
        class Routes {
          @Get('/')
          all() {
            return { passed: true }
          }
          @Get('/health')
          health() {
            return 'ok'
          }
          @Get('/strict')
          @Limit({ resource: ofRoute, entity: byUser, limits: TWO, cost: 2 })
          strict() {
            return 'passed'
          }
        }
        @Controller('address')
        class ByAddress {
          @Get()
          @Limit({ resource: ofAddress, limits: TWO, cost: () => ({ rpm: 1 }) })
          get() {
            return 'passed'
          }
        }
        const { ask } = await startNest(
          t,
          platform,
          { catraca: opened.guards[place] },
          {
            controllers: [Routes, ByAddress],
          },
        )
        const first = await ask('/', as('ann'))
        assert.deepEqual([first.status, await first.json()], [200, { passed: true }])
        assert.equal(first.headers.get('ratelimit'), '"rpm";r=1;t=30')
        await ask('/', as('ann'))
        const third = await ask('/', { headers: { 'x-user': 'ann', 'x-request-id': 'r-1' } })
        assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '30'])
        assert.equal(third.headers.get('ratelimit-policy'), '"rpm";q=2;w=60')
        const problem = await problemOf(third)
        assert.deepEqual(
          [problem.code, problem.status, problem['violated-policies'], problem.requestId],
          ['QUOTA_EXCEEDED', 429, ['rpm'], 'r-1'],
        )
        assert.deepEqual(await statuses(ask, '/health', 'ann', 3), [200, 200, 200])
        // Both guards count; the second takes two.
        assert.deepEqual(await statuses(ask, '/strict', 'bob', 2), [200, 429])
        assert.deepEqual(await statuses(ask, '/', 'bob', 1), [429])
        assert.deepEqual(await statuses(ask, '/address', 'x', 3), [200, 200, 429])
        assert.equal((await ask('/', as('x'.repeat(257)))).status, 400)
      })

      it('admit customers of lists, and refuse revoked tokens', async (t) => {
        const [list, jti] = [newName(), newName()]
        const { catraca } = opened
        await catraca.allowlists.create({ id: list, name: list, type: 'FIXA' })
        await catraca.allowlists.add(list, 'ann')
        const expiresAt = new Date(opened.clock.now() + 60_000)
        await catraca.tokens.revoke({ jti, expiresAt })
        @Controller()
        @RevokedTokens({
          claims: ({ headers }: NestRequest) => headers['x-jti'] && { jti: headers['x-jti'] },
        })
        class Routes {
          @Get('/beta')
          @Allow(list)
          beta() {
            return 'passed'
          }
          @Get('/other')
          @Allow([list], {
            customer: ({ headers }: NestRequest) => headers['x-other'],
            denial: () => ({ status: 404, headers: { 'X-Why': 'beta' }, body: 'nothing here' }),
          })
          other() {
            return 'passed'
          }
        }
        const options = { catraca: opened.guards[place], customer: byUser }
        const { ask } = await startNest(t, platform, options, { controllers: [Routes] })
        await until('the member is known', async () => (await ask('/beta', as('ann'))).status === 200)
        const refused = await ask('/beta', as('bob'))
        assert.equal(refused.status, 403)
        assert.equal((await problemOf(refused)).code, 'CUSTOMER_NOT_ALLOWED')
        assert.equal((await ask('/beta')).status, 403)
        const denied = await ask('/other', { headers: { 'x-other': 'bob' } })
        assert.deepEqual(
          [
            denied.status,
            denied.headers.get('x-why'),
            denied.headers.get('content-type'),
            await denied.text(),
          ],
          [404, 'beta', 'text/plain; charset=utf-8', 'nothing here'],
        )
        const revoked = await ask('/beta', { headers: { 'x-user': 'ann', 'x-jti': jti } })
        assert.deepEqual(
          [revoked.status, revoked.headers.get('www-authenticate'), (await problemOf(revoked)).code],
          [401, 'Bearer error="invalid_token"', 'TOKEN_REVOKED'],
        )
      })
    })
  }

  describe(`guards of Nest on ${platform}`, () => {
    it('may be global, may be used by their class, and filters of the application come first', async (t) => {
      const resource = newName()
      const seen: CatracaException[] = []
      @Catch(HttpException)
      class Own implements ExceptionFilter {
        catch(exception: HttpException, host: ArgumentsHost) {
          if (exception instanceof CatracaException) seen.push(exception)
          host.switchToHttp().getResponse().status(exception.getStatus()).send({ own: true })
        }
      }
      @Controller()
      class Routes {
        @Get()
        @UseGuards(limitGuard({ resource: newName(), entity: byUser, limits: TWO }))
        get() {
          return 'passed'
        }
      }
      const limits: Limits = { rpm: { capacity: 1, refillPeriodSeconds: 60 } }
      const guard = { provide: APP_GUARD, useClass: limitGuard({ resource, entity: byUser, limits }) }
      const { ask } = await startNest(
        t,
        platform,
        { catraca: opened.catraca },
        {
          controllers: [Routes],
          providers: [guard as never],
          prepare: (app) => app.useGlobalFilters(new Own()),
        },
      )
      assert.equal((await ask('/', as('ann'))).status, 200)
      const denied = await ask('/', as('ann'))
      assert.deepEqual([denied.status, await denied.json()], [429, { own: true }])
      assert.match(denied.headers.get('content-type')!, /^application\/json/)
      assert.equal(denied.headers.get('retry-after'), '60')
      const [exception] = seen
      assert.deepEqual([exception!.code, exception!.getStatus()], ['QUOTA_EXCEEDED', 429])
      assert.equal((exception!.getResponse() as { code: string }).code, 'QUOTA_EXCEEDED')
    })

    it('wrong options stop the application when it starts', async (t) => {
      const wrong: [MethodDecorator, RegExp][] = [
        [Limit({ resorce: 'a' } as never), /did you mean resource/],
        [Limit({ cost: 2 }), /cost must name its limits/],
        [Allow('list'), /customer must be given/],
        [Allow([], { customer: byUser }), /lists must name a list/],
      ]
      for (const [decorator, message] of wrong) {
        class Routes {
          get() {
            return 'passed'
          }
        }
        const method = Object.getOwnPropertyDescriptor(Routes.prototype, 'get')!
        Get()(Routes.prototype, 'get', method)
        decorator(Routes.prototype, 'get', method)
        Controller()(Routes)
        const starting = startNest(t, platform, { catraca: opened.catraca }, { controllers: [Routes] })
        await assert.rejects(starting, message)
      }
    })
  })
}

describe('CatracaModule', () => {
  it('refuses a mix of places', async () => {
    @Module({ imports: [CatracaModule.forRoot({ store: 'memory:', catraca: opened.catraca } as never)] })
    class App {}
    const starting = NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
    await assert.rejects(starting, /must be those of an instance, or a server, or catraca/)
  })
})
