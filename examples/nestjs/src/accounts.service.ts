import { setTimeout as sleep } from 'node:timers/promises'
import { Injectable, UnprocessableEntityException } from '@nestjs/common'
import type { Catraca } from 'catraca'
import { Cached, Fence, InjectCatraca, Locked } from 'catraca/nestjs'
import { Ledger } from './ledger.js'

const BALANCES = { name: 'balances', ttlMs: 60_000 }
/** How long the bank takes. */
const BANK_MS = Number(process.env.BANK_MS ?? 0)

@Injectable()
export class Accounts {
  constructor(
    private readonly ledger: Ledger,
    @InjectCatraca() private readonly catraca: Catraca,
  ) {}

  /** One payment of an account at a time, on all pods. */
  @Locked((from: string) => `account:${from}`, { ttlMs: 5000, waitMs: 5000 })
  async pay(from: string, to: string, amount: number, @Fence() fence = 0): Promise<number> {
    const balance = await this.ledger.balance(from)
    if (balance < amount) throw new UnprocessableEntityException(`${from} has ${balance}`)
    await sleep(BANK_MS)
    await this.ledger.add({ from, to, amount, fence })
    await this.catraca.cache.space(BALANCES).deleteMany([from, to])
    return balance - amount
  }

  @Cached(BALANCES)
  async balance(account: string): Promise<number> {
    return this.ledger.balance(account)
  }
}
