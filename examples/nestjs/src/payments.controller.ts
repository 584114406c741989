import { BadRequestException, Body, Controller, Get, Post, Req } from '@nestjs/common'
import { Allow, Idempotent, Limit } from 'catraca/nestjs'
import { Accounts } from './accounts.service.js'
import type { CustomerRequest } from './customer.guard.js'

const limits = {
  perHour: { capacity: 20, refillPeriodSeconds: 3600 },
  atOnce: { capacity: 3, refillPeriodSeconds: 60, algorithm: 'concurrency' },
} as const

const customer = (request: CustomerRequest) => request.customer

@Controller()
@Limit({ resource: 'payments', entity: customer, limits })
export class PaymentsController {
  constructor(private readonly accounts: Accounts) {}

  @Post('payments')
  @Idempotent({ operation: 'PAY', caller: customer, leaseMs: 2000 })
  async pay(@Req() { customer: from }: CustomerRequest, @Body() body: { to: string; amount: number }) {
    return { from, ...body, balance: await this.accounts.pay(from, body.to, amountIn(body)) }
  }

  @Post('payments/instant')
  @Allow('instant')
  @Idempotent({ operation: 'INSTANT', caller: customer })
  async payAtOnce(@Req() request: CustomerRequest, @Body() body: { to: string; amount: number }) {
    return this.pay(request, body)
  }

  @Get('balance')
  async balance(@Req() { customer: account }: CustomerRequest) {
    return { account, balance: await this.accounts.balance(account) }
  }
}

function amountIn({ to, amount }: { to: string; amount: number }): number {
  if (typeof to === 'string' && Number.isSafeInteger(amount) && amount > 0) return amount
  throw new BadRequestException('to and amount are required')
}
