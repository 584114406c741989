import { Module } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { TerminusModule } from '@nestjs/terminus'
import { CatracaModule } from 'catraca/nestjs'
import { Accounts } from './accounts.service.js'
import { CustomerGuard, type CustomerRequest } from './customer.guard.js'
import { HealthController } from './health.controller.js'
import { Ledger } from './ledger.js'
import { PaymentsController } from './payments.controller.js'

@Module({
  imports: [
    TerminusModule,
    CatracaModule.forRootAsync({
      useFactory: () => ({
        store: process.env.CATRACA_STORE ?? 'embedded:./catraca-data',
        customer: ({ customer }: CustomerRequest) => customer,
      }),
    }),
  ],
  controllers: [PaymentsController, HealthController],
  providers: [Accounts, Ledger, { provide: APP_GUARD, useClass: CustomerGuard }],
})
export class AppModule {}
