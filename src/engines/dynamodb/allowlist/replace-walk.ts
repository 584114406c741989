import { shardPlace } from './items.js'
import { type FoundRow, MemberReads } from './member-reads.js'
import type { StoredList } from './meta.js'
import type { Store } from './store.js'

const VERB = 'allowlist.import'
/** Rows per page and shard; with many shards, as many pages are in memory. */
const PAGE = 500

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const isUuid = (customerId: string): boolean => UUID.test(customerId)

/**
 * The members of one shard in the order of an import: UUIDs first, then everything else. The table sorts them
 * together, so it is read twice if both occur.
 */
export class ShardWalk {
  private readonly reads: MemberReads
  private rows: AsyncGenerator<FoundRow> | undefined
  private next: FoundRow | undefined
  private ofUuids = true
  private sawOthers = false

  constructor(
    store: Store,
    private readonly list: StoredList,
    readonly shard: number,
  ) {
    this.reads = new MemberReads(store)
  }

  /** The next members up to a customer (all if undefined), at most `limit`. */
  async upTo(customerId: string | undefined, limit: number): Promise<FoundRow[]> {
    const found: FoundRow[] = []
    while (found.length < limit) {
      this.next ??= await this.read()
      if (this.next === undefined) break
      if (customerId !== undefined && this.next.customerId > customerId) break
      found.push(this.next)
      this.next = undefined
    }
    return found
  }

  /** Starts with the ids that are not UUIDs. Returns whether there are any. */
  turnToOthers(): boolean {
    this.ofUuids = false
    // Those added since were added by callers, and a replace does not change them.
    this.rows = this.sawOthers ? undefined : nothing()
    this.next = undefined
    return this.sawOthers
  }

  private async read(): Promise<FoundRow | undefined> {
    const place = shardPlace(this.list.id, this.list, this.shard)
    this.rows ??= this.reads.rows(VERB, place, { pageSize: PAGE })
    for (;;) {
      const { value, done } = await this.rows.next()
      if (done === true) return undefined
      if (isUuid(value.customerId) === this.ofUuids) return value
      this.sawOthers = true
    }
  }
}

async function* nothing(): AsyncGenerator<FoundRow> {}
