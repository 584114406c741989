import 'reflect-metadata'
import {
  type CallHandler,
  Controller,
  Get,
  type INestApplication,
  Module,
  UseInterceptors,
} from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import {
  Allow,
  Cached,
  CatracaModule,
  Fence,
  Idempotent,
  Limit,
  Locked,
  RevokedTokens,
} from '../../src/nestjs/index.js'
import { ASKED, catraca, type Guard, OPTIONS, type Run } from './adapted.js'
import { through } from './adapted-frameworks.js'

const { lists, customer } = OPTIONS.allow
const DECORATORS: Record<Guard, MethodDecorator> = {
  rateLimit: Limit(OPTIONS.rateLimit),
  revokedTokens: RevokedTokens(OPTIONS.revokedTokens),
  allow: Allow(lists, { customer }),
  idempotency: Idempotent(OPTIONS.idempotency),
  locked: Locked('a-lock') as MethodDecorator,
  cached: Cached({ name: 'a-space', ttlMs: 1000 }, { key: () => 'a-key' }) as MethodDecorator,
}
/** What an interceptor costs is Nest's. */
class Nothing {
  async intercept(_: unknown, next: CallHandler) {
    return next.handle()
  }
}
const none: MethodDecorator = () => {}
const nothing = UseInterceptors(Nothing)

async function appOf(
  guard: Guard,
  withAdapter: boolean,
  adapter: AbstractHttpAdapter,
): Promise<INestApplication> {
  const plain = guard === 'idempotency' ? nothing : none
  const decorator = withAdapter ? DECORATORS[guard] : plain
  @Controller()
  class Routes {
    @Get()
    @decorator
    async get(@Fence() _?: number) {
      if (!withAdapter) await ASKED[guard]()
      return 'ok'
    }
  }
  @Module({ imports: [CatracaModule.forRoot({ catraca })], controllers: [Routes] })
  class App {}
  const app: INestApplication = await NestFactory.create(App, adapter, { logger: false })
  return app.init()
}

/** The same on the platforms of Nest. */
export const NEST: Record<string, (guard: Guard, withAdapter: boolean) => Promise<Run>> = {
  async 'nestjs on express'(guard, withAdapter) {
    const app = await appOf(guard, withAdapter, new ExpressAdapter())
    return through(app.getHttpAdapter().getInstance())
  },
  async 'nestjs on fastify'(guard, withAdapter) {
    const app = await appOf(guard, withAdapter, new FastifyAdapter())
    const instance = app.getHttpAdapter().getInstance()
    await instance.ready()
    return () => instance.inject({ url: '/', headers: { 'idempotency-key': 'a-key-of-a-client' } })
  },
}
