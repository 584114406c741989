import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Controller, Get, Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { HealthCheckService, TerminusModule } from '@nestjs/terminus'
import type { Catraca } from '../../src/index.js'
import {
  type AnyCatraca,
  CATRACA,
  CatracaHealth,
  CatracaModule,
  type CatracaModuleOptions,
  Fence,
  Locked,
} from '../../src/nestjs/index.js'
import { openPlaces, PLACES } from '../adapters/frameworks.js'
import { openPatiently, PATIENCE_MS, patient } from '../support/patient.js'
import { until } from '../support/redis/process.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startNest } from './applications.js'

const opened = openPlaces()

describe('CatracaModule', () => {
  it('opens an instance by a factory, injects it, and closes it', async () => {
    @Injectable()
    class Settings {
      readonly store = 'memory:'
    }
    @Module({ providers: [Settings], exports: [Settings] })
    class SettingsModule {}
    @Injectable()
    class Service {
      constructor(@Inject(CATRACA) readonly catraca: AnyCatraca) {}
    }
    @Module({
      imports: [
        CatracaModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: async ({ store }: Settings) => ({ store }),
        }),
      ],
      providers: [Service],
    })
    class App {}
    const app = await NestFactory.createApplicationContext(App, { logger: false })
    const { catraca } = app.get(Service)
    assert.equal((catraca as Catraca).store, 'memory:')
    await catraca.locks.withLock('a', {}, () => {})
    await app.close()
    await assert.rejects(catraca.locks.acquire('a'), { code: 'CLOSED' })
  })

  it('leaves open what the application opened, and connects to servers', async (t) => {
    const app = await contextOf({ catraca: opened.catraca })
    assert.equal(app.get(CATRACA), opened.catraca)
    await app.close()
    await opened.catraca.locks.withLock('still-open', {}, () => {})
    const server = await startedServer(t)
    const other = await contextOf({ server: { url: server } })
    await other.get<AnyCatraca>(CATRACA).locks.withLock('over-http', {}, () => {})
    await other.close()
  })

  it('stops the start when an option is wrong', async () => {
    await assert.rejects(contextOf({ stroe: 'memory:' } as never), /did you mean store/)
    await assert.rejects(contextOf({ store: 'memory:', shutdownMs: -1 }), /shutdownMs must be a whole number/)
  })

  it('waits for methods with locks before it closes, so that no lock is left behind', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const other = await openPatiently({ store })
    t.after(() => other.close())
    let finish = () => {}
    const finishing = new Promise<void>((resolve) => {
      finish = resolve
    })
    let hasFence = false
    @Injectable()
    class Job {
      @Locked('job', { ttlMs: 3_600_000 })
      async run(@Fence() fence?: number) {
        hasFence = fence !== undefined
        await finishing
      }
    }
    @Module({
      imports: [CatracaModule.forRoot({ ...patient({ store }), shutdownMs: PATIENCE_MS })],
      providers: [Job],
    })
    class App {}
    const app = await NestFactory.createApplicationContext(App, { logger: false })
    const running = app.get(Job).run()
    await until('it runs', () => hasFence)
    let isClosed = false
    const closing = app.close().then(() => {
      isClosed = true
    })
    for (let i = 0; i < 5; i++) await turn()
    assert.deepEqual([isClosed, (await other.locks.status('job')).held], [false, true])
    finish()
    await Promise.all([running, closing])
    assert.equal((await other.locks.status('job')).held, false)
  })
})

describe('CatracaHealth', () => {
  for (const place of PLACES) {
    it(`${place}: tells Terminus`, async (t) => {
      const catraca = opened.guards[place]
      let isDown = false
      const shown = { ...catraca, health: async () => (isDown ? down() : catraca.health()) } as AnyCatraca
      @Controller()
      class Routes {
        constructor(
          @Inject(HealthCheckService) private readonly checks: HealthCheckService,
          @Inject(CatracaHealth) private readonly health: CatracaHealth,
        ) {}

        @Get('/health')
        check() {
          return this.checks.check([() => this.health.isHealthy()])
        }
      }
      @Module({ imports: [TerminusModule], controllers: [Routes] })
      class Health {}
      const { ask } = await startNest(
        t,
        'Express',
        { catraca: shown },
        { controllers: [], imports: [Health] },
      )
      const healthy = await ask('/health')
      const { details } = (await healthy.json()) as { details: unknown }
      assert.deepEqual(
        [healthy.status, details],
        [200, { catraca: { status: 'up', engines: { embedded: 'healthy' } } }],
      )
      isDown = true
      const sick = await ask('/health')
      assert.equal(sick.status, 503)
      assert.deepEqual(((await sick.json()) as { error: unknown }).error, { catraca: { status: 'down' } })
    })
  }
})

const down = () => Promise.reject(new Error('nobody answers'))

function contextOf(options: CatracaModuleOptions) {
  @Module({ imports: [CatracaModule.forRoot(options)] })
  class App {}
  return NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
}

async function startedServer(t: TestContext): Promise<string> {
  const { startServer } = await import('../../src/server/index.js')
  const { createLogger } = await import('../../src/server/http/logger.js')
  const server = await startServer(opened.catraca, { port: 0, logger: createLogger('silent') })
  t.after(() => server.stop())
  return server.url
}
