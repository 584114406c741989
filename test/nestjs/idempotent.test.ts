import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import {
  Body,
  ConflictException,
  Controller,
  Get,
  Header,
  HttpCode,
  Post,
  Put,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common'
import { map, Observable } from 'rxjs'
import {
  CatracaException,
  Idempotent,
  idempotencyContext,
  Limit,
  type NestRequest,
} from '../../src/nestjs/index.js'
import { newName, openPlaces, PLACES } from '../adapters/frameworks.js'
import { until } from '../support/redis/process.js'
import { NAMES, post, problemOf, startNest } from './applications.js'

const opened = openPlaces()
const key = (value: string, more: Record<string, string> = {}) => ({ 'idempotency-key': value, ...more })
const user = ({ headers }: NestRequest): string => headers['x-user'] ?? 'nobody'

/** As services wrap their answers. A replay must not be wrapped again. */
const envelope = {
  intercept: (_: unknown, next: { handle(): Observable<unknown> }) =>
    next.handle().pipe(map((data) => ({ data }))),
}

for (const platform of NAMES) {
  for (const place of PLACES) {
    it(`@Idempotent on ${platform}, ${place}: executes once, and replays status, headers and body`, async (t) => {
      const operation = newName()
      let runs = 0
      @Controller()
      class Routes {
        @Post('/pay')
        @Limit({ resource: newName(), limits: { rpm: { capacity: 100, refillPeriodSeconds: 60 } } })
        @Idempotent({ operation, caller: user })
        @UseInterceptors(envelope)
        @HttpCode(202)
        @Header('Location', '/payments/1')
        pay(@Body() { amount }: { amount: number }, @Req() request: NestRequest) {
          return { amount, run: ++runs, attempt: idempotencyContext(request)?.attempt }
        }
      }
      const { ask } = await startNest(
        t,
        platform,
        { catraca: opened.guards[place] },
        { controllers: [Routes] },
      )
      const pay = (amount: number, headers: Record<string, string>) =>
        ask(...post('/pay', { amount }, headers))
      const first = await pay(10, key('a'))
      const body = { data: { amount: 10, run: 1, attempt: 1 } }
      assert.deepEqual([first.status, await first.json()], [202, body])
      const again = await pay(10, key('"a"', { origin: 'https://shop.example' }))
      assert.deepEqual([again.status, await again.json(), runs], [202, body, 1])
      assert.deepEqual(
        ['idempotency-replayed', 'location', 'content-type'].map((name) => again.headers.get(name)),
        ['true', '/payments/1', first.headers.get('content-type')],
      )
      // What guards set for this request comes with the stored response.
      assert.match(again.headers.get('ratelimit')!, /^"rpm";r=98/)
      const other = await pay(11, key('a'))
      assert.deepEqual([other.status, (await problemOf(other)).code], [422, 'IDEMPOTENCY_KEY_REUSED'])
      const without = await pay(10, {})
      assert.deepEqual([without.status, (await problemOf(without)).code], [400, 'INVALID_INPUT'])
      assert.equal((await pay(10, key('a', { 'x-user': 'bob' }))).headers.get('idempotency-replayed'), null)
      assert.equal(runs, 2)
    })
  }

  describe(`@Idempotent on ${platform}`, () => {
    it('replays refusals of the service, and lets failures and refusals of guards come again', async (t) => {
      let runs = 0
      @Controller()
      @Idempotent({ operation: newName() })
      class Routes {
        @Get('/read')
        read() {
          return 'no key needed'
        }
        @Post('/conflict')
        conflict() {
          runs++
          throw new ConflictException('spent')
        }
        @Post('/fails')
        fails() {
          if (++runs === 1) throw new Error('broken')
          return 'done'
        }
        @Post('/locked')
        locked() {
          if (++runs > 1) return 'done'
          throw CatracaException.of(new Error('held'), 'r')
        }
      }
      const { ask } = await startNest(t, platform, { catraca: opened.catraca }, { controllers: [Routes] })
      assert.equal((await ask('/read')).status, 200)
      const twice = async (path: string) => {
        runs = 0
        const answers = [
          await ask(...post(path, {}, key(path.slice(1)))),
          await ask(...post(path, {}, key(path.slice(1)))),
        ]
        return [...answers.map(({ status }) => status), runs]
      }
      assert.deepEqual(await twice('/conflict'), [409, 409, 1])
      assert.deepEqual(await twice('/fails'), [500, 201, 2])
      assert.deepEqual(await twice('/locked'), [500, 201, 2])
    })

    it('takes a key of the service, guards the method of its route, and keeps any body', async (t) => {
      let runs = 0
      const bytes = Buffer.from([0, 255, 1, 254])
      const operation = newName()
      const byQuery = { key: ({ query }: NestRequest) => query.id as string | undefined }
      @Controller()
      class Routes {
        @Put('/bytes')
        @Idempotent({ operation, ...byQuery })
        bytes() {
          runs++
          return new StreamableFile(bytes, { type: 'application/x-own' })
        }
        @Post('/own')
        @Idempotent({ operation, ...byQuery })
        own(@Res() response: NestRequest) {
          runs++
          response.status(203).header('content-type', 'text/plain').send('own')
        }
        @Post('/nothing')
        @Idempotent({ operation, ...byQuery })
        @HttpCode(204)
        nothing() {
          runs++
        }
      }
      const { ask } = await startNest(t, platform, { catraca: opened.catraca }, { controllers: [Routes] })
      const twice = async (path: string, method: string) => {
        runs = 0
        const seen: unknown[] = []
        for (let i = 0; i < 2; i++) {
          const answer = await ask(path, { method })
          const { status, headers } = answer
          seen.push([
            status,
            headers.get('content-type'),
            Buffer.from(await answer.arrayBuffer()).toString('hex'),
          ])
        }
        assert.deepEqual(seen[1], seen[0])
        assert.equal(runs, 1)
        return seen[0]
      }
      assert.deepEqual(await twice('/bytes?id=1', 'PUT'), [200, 'application/x-own', bytes.toString('hex')])
      const [status, type, own] = (await twice('/own?id=2', 'POST')) as unknown[]
      assert.deepEqual(
        [status, String(type).split(';')[0], own],
        [203, 'text/plain', Buffer.from('own').toString('hex')],
      )
      assert.deepEqual(await twice('/nothing?id=3', 'POST'), [204, null, ''])
      const missing = await ask('/own', { method: 'POST' })
      assert.equal(missing.status, 400)
    })

    it('lets another try, if an Observable was stopped because its client has disconnected', async (t) => {
      const operation = newName()
      let runs = 0
      let isStopped = false
      @Controller()
      class Routes {
        @Post('/')
        @Idempotent({ operation })
        wait() {
          if (++runs > 1) return 'done'
          return new Observable(() => () => {
            isStopped = true
          })
        }
      }
      const { ask, app } = await startNest(
        t,
        platform,
        { catraca: opened.catraca },
        { controllers: [Routes] },
      )
      const { port } = new URL(await app.getUrl())
      const socket = connect(Number(port), '127.0.0.1')
      socket.write('POST / HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\n\r\n')
      await until('it runs', () => runs === 1)
      socket.destroy()
      await until('it is stopped', () => isStopped)
      await until(
        'it may run again',
        async () => (await ask('/', { method: 'POST', headers: key('k') })).status === 201,
      )
      assert.equal(runs, 2)
    })
  })
}
