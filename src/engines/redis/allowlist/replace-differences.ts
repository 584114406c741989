import { chunksOf } from '../../../core/chunks.js'
import { EntryWriter, RESET_ENTRY } from '../../../guards/allowlist/changes/entry.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { readState } from './attributes.js'
import type { BulkContext } from './bulk-context.js'
import { again } from './bulk-shards.js'
import { MISSING } from './replace-cleanup.js'
import type { Shard } from './shards.js'

/** Above this number, followers load the list again. */
const MOST = 10_000
const AT_ONCE = 500

interface PublishedReplace {
  /** The log entry of a replace; empty if nothing differs. */
  entry: Buffer
  /** The last sequence number of the log when it was read. */
  sequence: number
}

/** Customers that differ between the generation of a replace and the current one, if they are few. */
export class Differences {
  private readonly customers = new Set<string>()
  private tooMany = false
  private removedFound = false

  constructor(
    private readonly context: BulkContext,
    private readonly shard: Shard,
  ) {}

  add(customers: readonly string[]): void {
    if (this.tooMany) return
    for (const customer of customers) this.customers.add(customer)
    if (this.customers.size > MOST) this.giveUp()
  }

  giveUp(): void {
    this.tooMany = true
    this.customers.clear()
  }

  /** All differing customers, with their current state in the next generation, as one log entry. */
  async read(removed: number): Promise<PublishedReplace> {
    if (this.customers.size + removed > MOST) this.giveUp()
    if (!this.tooMany && !this.removedFound && removed > 0) await this.findRemoved()
    const { redis } = this.context
    const { state } = this.shard.keys
    // Read before the customers: a change while they are read has a later number.
    const sequence = Number(await again(() => redis.read(state, ['HGET', state, 'sequence'])))
    if (this.tooMany) return { entry: Buffer.from(RESET_ENTRY), sequence }
    const writer = new EntryWriter()
    for (const customers of chunksOf([...this.customers], AT_ONCE)) await this.tell(customers, writer)
    return { entry: Buffer.from(writer.bytes()), sequence }
  }

  private async findRemoved(): Promise<void> {
    const { redis } = this.context
    const { members, next } = this.shard.keys
    let cursor = '0'
    do {
      const step = await again(() => redis.run(MISSING, [members, next], [cursor, String(AT_ONCE)]))
      const [following, missing] = step as [string, string[]]
      cursor = following
      this.add(missing)
    } while (cursor !== '0' && !this.tooMany)
    this.removedFound = true
  }

  private async tell(customers: string[], writer: EntryWriter): Promise<void> {
    const { redis } = this.context
    const { next, nextAttributes } = this.shard.keys
    const [held, texts] = (await again(() =>
      Promise.all([
        redis.read(next, ['SMISMEMBER', next, ...customers]),
        redis.read(nextAttributes, ['HMGET', nextAttributes, ...customers]),
      ]),
    )) as [number[], (string | null)[]]
    const key = new Uint8Array(MAX_CUSTOMER_KEY_LENGTH)
    customers.forEach((customer, i) => {
      const end = writeCustomerKey(customer, key, 0)
      if (held[i] === 0) {
        writer.removed(key, 0, end)
        return
      }
      const { addedAt = 0, expiresAt } = readState(texts[i]!)
      writer.added(key, 0, end, addedAt, expiresAt)
    })
  }
}
