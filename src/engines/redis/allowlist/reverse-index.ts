import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { isIdentifier, reverseKey, type ShardKeys } from './keys.js'

const UPDATE = defineScript('reverse-update', { keys: 1, write: true })

/** Which change of a list something is known by; later ones have a higher number. */
export interface ReverseVersion {
  listId: string
  incarnation: number
  layout: number
  sequence: number
}

/** Behind every change of this incarnation of a list. */
export const endOf = (listId: string, incarnation: number): ReverseVersion => ({
  ...{ listId, incarnation },
  ...{ layout: Number.MAX_SAFE_INTEGER, sequence: Number.MAX_SAFE_INTEGER },
})

/**
 * The lists of each customer. It lives in other slots than the lists and is written behind them: `+` is only a hint
 * that must be confirmed in the list, and a change that it may have missed is noted with the shard (`unindexed`)
 * until it has arrived.
 */
export class ReverseIndex {
  constructor(private readonly redis: Redis) {}

  async note(customerId: string, sign: '+' | '-', version: ReverseVersion): Promise<void> {
    const { listId, incarnation, layout, sequence } = version
    const args = [listId, sign, String(incarnation), String(layout), String(sequence)]
    await this.redis.run(UPDATE, [reverseKey(customerId)], args)
  }

  /** What another program put into a set and is no identifier has no lists. */
  async noteAll(
    customerIds: readonly (string | Buffer)[],
    sign: '+' | '-',
    version: ReverseVersion,
  ): Promise<void> {
    const ids = customerIds.map(String).filter(isIdentifier)
    await Promise.all(ids.map((customerId) => this.note(customerId, sign, version)))
  }

  /** All customers of an entry of a shard's log are noted. Nobody waits for it: upkeep would only look again. */
  arrived({ unindexed }: ShardKeys, sequence: number): void {
    this.redis.write(unindexed, ['ZREM', unindexed, String(sequence)]).catch(() => {})
  }

  /** Lists that may hold the customer, by id. */
  async candidates(customerId: string): Promise<string[]> {
    const key = reverseKey(customerId)
    const noted = (await this.redis.read(key, ['HGETALL', key])) as Map<string, string>
    return [...noted].flatMap(([listId, version]) => (version.startsWith('+') ? [listId] : [])).sort()
  }
}
