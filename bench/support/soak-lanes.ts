import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '../../src/cli/commands/support/target.js'
import { customerLines, customerNumber } from '../../src/cli/load/customers.js'
import { isCatracaError } from '../../src/core/errors.js'
import { demand, pick } from './proof.js'

const TIDE_BATCHES = 8
/** So short that most of those revoked in a run are over before it ends. */
const TOKEN_LIFE_MS = 5000
/** Customers of the lanes; those of the load are elsewhere. */
const FIRST = 500_000_000

export type Lane = 'addAndRemove' | 'tide' | 'replace' | 'createAndDelete' | 'codes' | 'revocations'

/** Changes lists and the rest through the API of a server, in several ways at once, and looks at what comes of it. */
export class SoakLanes {
  private batch = 0
  private generation = 0
  private made = 0

  constructor(
    private readonly target: Target,
    /** Customers in a batch of an import. */
    private readonly size: number,
    private readonly id: string,
  ) {}

  async prepare(): Promise<void> {
    for (const id of ['members', 'tide', 'replaced'])
      await this.target.allowlists.create({ id: this.list(id), name: id, type: 'FIXA' })
  }

  private list(name: string): string {
    return `${this.id}-${name}`
  }

  private customers(batch: number): string[] {
    return Array.from({ length: this.size }, (_, i) => customerNumber(FIRST + batch * this.size + i))
  }

  private async demandAllowed(
    list: string,
    customer: string,
    allowed: boolean,
    atLeast: string,
  ): Promise<void> {
    const answer = await this.target.allowlists.check(customer, [list], { atLeast })
    demand(answer.overallAllowed === allowed, `${list} says ${answer.overallAllowed} of ${customer}`)
  }

  /** Each is to be done one at a time, all of them beside each other. */
  readonly lanes: Record<Lane, () => Promise<void>> = {
    addAndRemove: async () => {
      const { allowlists } = this.target
      const [list, customer] = [this.list('members'), customerNumber(FIRST + this.made++)]
      const added = await allowlists.add(list, customer, { metadata: { from: 'soak' } })
      await this.demandAllowed(list, customer, true, added.token)
      const removed = await allowlists.remove(list, customer)
      await this.demandAllowed(list, customer, false, removed.token)
    },

    /** Grows batch by batch, then shrinks to the last one. */
    tide: async () => {
      const list = this.list('tide')
      const ids = this.customers(this.batch)
      const mode = this.batch === 0 ? 'replace' : 'add'
      const { token } = await this.target.allowlists.import(list, customerLines(ids), {
        format: 'text',
        mode,
      })
      await this.demandAllowed(list, pick(ids), true, token)
      this.batch = (this.batch + 1) % TIDE_BATCHES
    },

    replace: async () => {
      const list = this.list('replaced')
      const [before, now] = [this.customers(this.generation), this.customers(++this.generation)]
      const body = customerLines(now)
      const { token } = await this.target.allowlists.import(list, body, { format: 'text', mode: 'replace' })
      await this.demandAllowed(list, pick(now), true, token)
      await this.demandAllowed(list, pick(before), false, token)
      this.generation %= 1000
    },

    createAndDelete: async () => {
      const { allowlists } = this.target
      const list = this.list('churn')
      while (!(await this.create(list))) await sleep(50)
      const ids = this.customers(0)
      const { token } = await allowlists.import(list, customerLines(ids), { format: 'text' })
      await this.demandAllowed(list, pick(ids), true, token)
      await allowlists.delete(list)
    },

    codes: async () => {
      const address = `soak-${this.id}-${this.made++}@example.com`
      const issued = await this.target.codes.issue({ channel: 'email', address })
      demand(issued.issued, 'no code for an address that never had one')
      const verify = (code: string) => this.target.codes.verify({ channel: 'email', address, code })
      demand(!(await verify(issued.code === '000000' ? '111111' : '000000')).valid, 'a wrong code is valid')
      demand((await verify(issued.code)).valid, 'the right code is not valid')
      demand(!(await verify(issued.code)).valid, 'a code works twice')
    },

    revocations: async () => {
      const jti = `${this.id}-${this.made++}`
      const expiresAtMs = Date.now() + TOKEN_LIFE_MS
      await this.target.tokens.revokeAll([{ jti, expiresAt: new Date(expiresAtMs) }])
      const { revoked } = await this.target.tokens.check({ jti })
      // One that has expired meanwhile is nobody's business.
      demand(revoked || Date.now() >= expiresAtMs, 'a revoked token passes')
    },
  }

  private async create(id: string): Promise<boolean> {
    try {
      await this.target.allowlists.create({ id, name: 'Churn', type: 'FIXA' })
      return true
    } catch (error) {
      if (isCatracaError(error, 'ALLOWLIST_BEING_DELETED')) return false
      throw error
    }
  }
}
