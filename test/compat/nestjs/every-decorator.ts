// Every name of the path, in the forms of an application. Compiled without `skipLibCheck` for this package; not run.
import { Controller, Get, Injectable, Module, UseGuards, UseInterceptors } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { openCatraca } from 'catraca'
import {
  Allow,
  allowGuard,
  Cached,
  CatracaException,
  type CatracaHealth,
  CatracaModule,
  Fence,
  forwardedFor,
  Idempotent,
  InjectCatraca,
  idempotencyContext,
  idempotentInterceptor,
  Limit,
  Locked,
  LockSignal,
  limitGuard,
  RevokedTokens,
  revokedTokensGuard,
} from 'catraca/nestjs'
import { connectCatraca } from 'catraca/remote'

interface Asked {
  headers: Record<string, string | undefined>
}
const claims = ({ headers }: Asked) => (headers.jti === undefined ? undefined : { jti: headers.jti })

@Controller()
@Limit({
  clientAddress: forwardedFor({ proxies: 1 }),
  limits: { rpm: { capacity: 1, refillPeriodSeconds: 60 } },
  cost: 1,
})
@RevokedTokens({ claims })
@UseGuards(
  limitGuard({ resource: 'x' }),
  allowGuard('list', { customer: () => 'ann' }),
  revokedTokensGuard({ claims }),
)
@UseInterceptors(idempotentInterceptor({ operation: 'X' }))
class Routes {
  @Get()
  @Allow(['a', 'b'], { customer: async ({ headers }: Asked) => headers.customer })
  @Idempotent({ operation: 'Y', key: ({ headers }: Asked) => headers.key, methods: ['GET'] })
  get() {
    return idempotencyContext({})?.attempt
  }
}

@Injectable()
class Service {
  constructor(
    @InjectCatraca() readonly catraca: object,
    readonly health: CatracaHealth,
  ) {}

  @Locked((id: string) => [`a:${id}`, 'b'], { ttlMs: 1000 })
  @Cached(
    { name: 'space', ttlMs: 1000 },
    { key: (id: string) => id, ttlMs: (value) => (value === null ? 0 : 1) },
  )
  async find(id: string, @Fence() fence?: number, @LockSignal() signal?: AbortSignal) {
    const { catraca } = await this.health.isHealthy()
    return { id, fence, signal, status: catraca.status }
  }
}

@Module({
  imports: [
    CatracaModule.forRoot({ store: 'memory:', shutdownMs: 5, isGlobal: false }),
    CatracaModule.forRoot({ server: { url: 'http://127.0.0.1:8080' } }),
    CatracaModule.forRootAsync({
      useFactory: async () => ({ catraca: await openCatraca({ store: 'memory:' }) }),
    }),
    CatracaModule.forRootAsync({
      useFactory: () => ({ catraca: connectCatraca({ url: 'http://127.0.0.1:1' }) }),
    }),
  ],
  controllers: [Routes],
  providers: [Service, { provide: APP_GUARD, useClass: limitGuard() }],
})
export class Every {}

export const codeOf = (error: unknown) => (error instanceof CatracaException ? error.code : undefined)
