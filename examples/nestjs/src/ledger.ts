import { appendFile, readFile } from 'node:fs/promises'
import { Injectable } from '@nestjs/common'

export interface Payment {
  from: string
  to: string
  amount: number
  /** Of the lock under which the payment was made. */
  fence: number
}

/** What every account has at the beginning. */
const FIRST_BALANCE = 100

/** Stands for a database: a file of payments, or memory. */
@Injectable()
export class Ledger {
  private readonly file = process.env.LEDGER
  private readonly kept: Payment[] = []

  /** Refuses a payment of somebody who has lost the lock, and does not know it. */
  async add(payment: Payment): Promise<void> {
    const latest = (await this.all()).filter(({ from }) => from === payment.from).at(-1)
    if (latest !== undefined && latest.fence >= payment.fence) throw new Error('the lock was lost')
    if (this.file === undefined) this.kept.push(payment)
    else await appendFile(this.file, `${JSON.stringify(payment)}\n`)
  }

  async balance(account: string): Promise<number> {
    const changes = (await this.all()).map(({ from, to, amount }) =>
      to === account ? amount : from === account ? -amount : 0,
    )
    return changes.reduce((sum, change) => sum + change, FIRST_BALANCE)
  }

  async all(): Promise<Payment[]> {
    if (this.file === undefined) return this.kept
    const text = await readFile(this.file, 'utf8').catch(() => '')
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Payment]))
  }
}
