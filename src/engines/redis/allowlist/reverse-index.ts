import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { isIdentifier, reverseKey, type ShardKeys } from './keys.js'

const UPDATE = defineScript('reverse-update', { keys: 1, write: true, uses: ['clock'] })

/** The version of an entry: the change of the list that it comes from. Later changes have a higher version. */
export interface ReverseVersion {
  listId: string
  incarnation: number
  layout: number
  sequence: number
}

/** A version after every change of this incarnation of a list. */
export const endOf = (listId: string, incarnation: number): ReverseVersion => ({
  ...{ listId, incarnation },
  ...{ layout: Number.MAX_SAFE_INTEGER, sequence: Number.MAX_SAFE_INTEGER },
})

/**
 * The lists of each customer. It is in other slots than the lists and is written after them. So `+` is only a hint
 * that must be confirmed in the list. A change that may be missing is recorded in the shard (`unindexed`) until it is
 * written.
 */
export class ReverseIndex {
  constructor(private readonly redis: Redis) {}

  async note(customerId: string, sign: '+' | '-', version: ReverseVersion): Promise<void> {
    const { listId, incarnation, layout, sequence } = version
    const args = [listId, sign, String(incarnation), String(layout), String(sequence)]
    await this.redis.run(UPDATE, [reverseKey(customerId)], args)
  }

  /** Elements that are not identifiers, put there by another program, are skipped. */
  async noteAll(
    customerIds: readonly (string | Buffer)[],
    sign: '+' | '-',
    version: ReverseVersion,
  ): Promise<void> {
    const ids = customerIds.map(String).filter(isIdentifier)
    await Promise.all(ids.map((customerId) => this.note(customerId, sign, version)))
  }

  /** All customers of a log entry are in the index. Not awaited: if it fails, upkeep only checks the entry again. */
  arrived({ unindexed }: ShardKeys, sequence: number): void {
    this.redis.write(unindexed, ['ZREM', unindexed, String(sequence)]).catch(() => {})
  }

  /** Ids of the lists that may contain the customer. */
  async candidates(customerId: string): Promise<string[]> {
    const key = reverseKey(customerId)
    const noted = (await this.redis.read(key, ['HGETALL', key])) as Map<string, string>
    return [...noted].flatMap(([listId, version]) => (version.startsWith('+') ? [listId] : [])).sort()
  }
}
