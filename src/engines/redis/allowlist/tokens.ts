import { randomBytes } from 'node:crypto'
import { invalid } from '../../../core/errors.js'
import { every } from '../../../core/timers.js'
import type { WriteToken } from '../../../guards/allowlist/port.js'
import type { Redis } from '../link/redis.js'
import type { Catalog } from './catalog.js'
import { STORE_ID_KEY } from './keys.js'
import type { RedisList } from './meta.js'

const NUMBER = /^[0-9a-z]{1,11}$/
const COMPARE_MS = 1000

/**
 * Write tokens: `r.STORE.INCARNATION.LAYOUT.SHARD.SEQUENCE`, numbers in base 36. A write to several shards has
 * `.SHARD.SEQUENCE` for each.
 */
export class Tokens {
  private storeId = randomBytes(6).toString('hex')
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
  ) {}

  async open(): Promise<void> {
    await this.agree()
    // If the database is emptied, another instance may give it a new id.
    this.timer = every(() => {
      this.agree().catch(() => {})
    }, COMPARE_MS)
    this.timer.unref()
  }

  close(): void {
    clearInterval(this.timer)
  }

  of(list: RedisList, shard: number, sequence: number): string {
    return this.join(list, [shard, sequence])
  }

  /** A token for everything up to these entries, one for each shard. */
  ofAll(list: RedisList, sequences: readonly number[]): string {
    return this.join(
      list,
      sequences.flatMap((sequence, shard) => [shard, sequence]),
    )
  }

  private join({ incarnation, layout }: RedisList, entries: readonly number[]): string {
    const numbers = [incarnation, layout, ...entries].map((number) => number.toString(36))
    return `r.${this.storeId}.${numbers.join('.')}`
  }

  /** Throws INVALID_INPUT if the token does not belong to this store. */
  read(token: string): WriteToken {
    const [kind, store, ...numbers] = token.split('.')
    if (
      kind !== 'r' ||
      numbers.length < 4 ||
      numbers.length % 2 !== 0 ||
      !numbers.every((number) => NUMBER.test(number))
    ) {
      throw invalid('atLeast', 'is not a token that a write returned')
    }
    if (store !== this.storeId) throw invalid('atLeast', 'is a token of another store')
    const [incarnation, layout, ...entries] = numbers.map((number) => Number.parseInt(number, 36))
    return {
      incarnation: incarnation!,
      isIn: (position) => {
        const list = this.catalog.known(incarnation!)
        if (list?.shardCount !== position.length || list.layout < layout!) return false
        // Everything written before the list moved to these shards was moved with it.
        if (layout! < list.layout) return true
        return entries.every(
          (entry, i) => i % 2 === 0 || (position[entries[i - 1]!]?.sequence ?? -1) >= entry,
        )
      },
    }
  }

  private async agree(): Promise<void> {
    // A full server can still be read, so only a store without an id is written to.
    let existing = (await this.redis.read(STORE_ID_KEY, ['GET', STORE_ID_KEY])) as string | null
    if (existing === null) {
      const args = ['SET', STORE_ID_KEY, this.storeId, 'NX', 'GET']
      existing = (await this.redis.write(STORE_ID_KEY, args)) as string | null
    }
    if (existing !== null) this.storeId = existing
  }
}
