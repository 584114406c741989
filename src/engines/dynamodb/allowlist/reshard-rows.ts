import { chunksOf } from '../../../core/chunks.js'
import type { Item } from '../client/attributes.js'
import { text } from '../client/attributes.js'
import { MAX_BATCH_WRITES } from '../client/batches.js'
import { inTurns } from '../client/in-turns.js'
import { startingWith } from '../client/key-ranges.js'
import type { TransactionItem } from '../client/transactions.js'
import { keyOf } from '../keys.js'
import type { ImportLease } from './import-lease.js'
import {
  CUSTOMER_PREFIX,
  customerSort,
  type Layout,
  listPartition,
  type Place,
  placeOf,
  readCustomerSort,
  samePlace,
  shardPlace,
} from './items.js'
import { type FoundRow, MemberReads } from './member-reads.js'
import { rowKey } from './member-steps.js'
import type { StoredList } from './meta.js'
import { rowOf, unchangedRow, visible } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.move'
const REQUESTS_AT_ONCE = 4
const REPAIRED_AT_ONCE = 8

/** A batch of one shard's rows. */
interface RowPage {
  rows: FoundRow[]
  /** Where the next batch begins; absent at the end of the shard. */
  behind?: string
}

/** What a move does to the rows of one batch. Each step can be repeated. */
export class ReshardRows {
  private readonly reads: MemberReads

  constructor(
    private readonly store: Store,
    private readonly list: StoredList,
    private readonly from: Layout,
    private readonly to: Layout,
  ) {
    this.reads = new MemberReads(store)
  }

  async read(layout: Layout, shard: number, behind: string | undefined, limit: number): Promise<RowPage> {
    const place = shardPlace(this.list.id, layout, shard)
    const rows: FoundRow[] = []
    for await (const page of this.reads.pages(VERB, place, { behind, pageSize: limit })) {
      rows.push(...page)
      const last = page.at(-1)
      if (rows.length >= limit && last !== undefined) return { rows, behind: last.customerId }
    }
    return { rows }
  }

  /**
   * Copies members to places where there is no row yet. Concurrent changes write both places. If a member is removed
   * after it was read here, its copy comes back, and `clean` removes it.
   */
  async copy(rows: readonly FoundRow[], lease: ImportLease): Promise<number> {
    const copies = rows.flatMap(({ customerId, item }) => {
      const [here, there] = this.places(customerId)
      return !this.isSeen(item) || samePlace(here, there) ? [] : [this.copyOf(customerId, item, there)]
    })
    const table = this.store.tables[this.to.giant ? 'giant' : 'allowlists']
    await inTurns(chunksOf(copies, MAX_BATCH_WRITES), REQUESTS_AT_ONCE, async (chunk) => {
      await lease.within((timeoutMs) => this.store.client.insertItems(VERB, table, chunk, { timeoutMs }))
    })
    return copies.length
  }

  /** Makes sure that every member of a batch of the old layout is in the new one. */
  async check(rows: readonly FoundRow[]): Promise<number> {
    const seen = rows.filter(({ customerId, item }) => this.isSeen(item) && this.moves(customerId))
    const copies = await this.atPlaces(seen, this.to)
    const odd = seen.filter(({ customerId, item }) => !isSameVersion(item, copies.get(customerId)))
    return this.repair(odd)
  }

  /** Makes sure that a batch of the new layout contains only members of the old one. */
  async clean(rows: readonly FoundRow[]): Promise<number> {
    const moved = rows.filter(({ customerId }) => this.moves(customerId))
    const originals = await this.atPlaces(moved, this.from)
    const odd = moved.filter(({ customerId, item }) => !isSameVersion(originals.get(customerId), item))
    return this.repair(odd)
  }

  /** Deletes rows at old places that belong elsewhere now. */
  async drop(shard: number, limit: number): Promise<{ dropped: number; more: boolean }> {
    const place = shardPlace(this.list.id, this.from, shard)
    const table = this.store.tables[place.table]
    let dropped = 0
    const pages = this.store.client.queryPages(VERB, {
      TableName: table,
      ...startingWith(place.partition, CUSTOMER_PREFIX),
      ProjectionExpression: 'PK, SK',
      Limit: limit,
    })
    for await (const page of pages) {
      const old = page.filter(({ SK }) => {
        const now = placeOf(this.list.id, this.to, readCustomerSort(SK!.S!)!)
        return !samePlace(now, place)
      })
      const deletes = old.map(({ PK, SK }) => ({ table, delete: keyOf(PK!.S!, SK!.S!) }))
      await this.store.client.batchWrite(VERB, deletes)
      dropped += old.length
      if (dropped >= limit) return { dropped, more: true }
    }
    return { dropped, more: false }
  }

  private places(customerId: string): [here: Place, there: Place] {
    return [placeOf(this.list.id, this.from, customerId), placeOf(this.list.id, this.to, customerId)]
  }

  private moves(customerId: string): boolean {
    const [here, there] = this.places(customerId)
    return !samePlace(here, there)
  }

  /** Rows that no generation sees are not copied. */
  private isSeen(item: Item): boolean {
    return visible(rowOf(item, this.list), this.list.generation)
  }

  private copyOf(customerId: string, item: Item, { table, partition }: Place): Item {
    const { GSI1PK: _, GSI1SK: __, ...rest } = item
    const copy = { ...rest, PK: text(partition) }
    if (table === 'giant') return copy
    return { ...copy, GSI1PK: text(customerSort(customerId)), GSI1SK: text(listPartition(this.list.id)) }
  }

  private async atPlaces(rows: readonly FoundRow[], layout: Layout): Promise<Map<string, Item>> {
    if (rows.length === 0) return new Map()
    const places = rows.map(({ customerId }) => placeOf(this.list.id, layout, customerId))
    const found = await this.store.client.batchGetItem(VERB, {
      table: this.store.tables[places[0]!.table],
      keys: rows.map(({ customerId }, i) => rowKey(places[i]!, customerId)),
      consistent: true,
    })
    return new Map(found.map((item) => [readCustomerSort(item.SK!.S!)!, item]))
  }

  private async repair(odd: readonly FoundRow[]): Promise<number> {
    let repaired = 0
    await inTurns(odd, REPAIRED_AT_ONCE, async ({ customerId }) => {
      if (await this.align(customerId)) repaired++
    })
    return repaired
  }

  /**
   * Makes the copy of one member equal to the original, in one transaction with conditions on both. False: they were
   * equal.
   */
  private async align(customerId: string): Promise<boolean> {
    const [here, there] = this.places(customerId)
    const { client, tables } = this.store
    const read = (place: Place) => client.readItem(VERB, tables[place.table], rowKey(place, customerId))
    for (;;) {
      // The original first: a change of both between the reads then shows in the copy.
      const original = await read(here)
      const copy = await read(there)
      const isSeen = original !== undefined && this.isSeen(original)
      if (isSeen ? isSameVersion(original, copy) : copy === undefined) return false
      const change = isSeen
        ? this.put(this.copyOf(customerId, original, there), there, copy)
        : this.delete(there, customerId, copy)
      const { applied } = await client.transactWrite(VERB, [this.still(here, customerId, original), change])
      if (applied) return true
    }
  }

  private still(place: Place, customerId: string, item: Item | undefined): TransactionItem {
    const TableName = this.store.tables[place.table]
    return { ConditionCheck: { TableName, Key: rowKey(place, customerId), ...unchangedRow(item) } }
  }

  private put(item: Item, place: Place, before: Item | undefined): TransactionItem {
    return { Put: { TableName: this.store.tables[place.table], Item: item, ...unchangedRow(before) } }
  }

  private delete(place: Place, customerId: string, before: Item | undefined): TransactionItem {
    const TableName = this.store.tables[place.table]
    return { Delete: { TableName, Key: rowKey(place, customerId), ...unchangedRow(before) } }
  }
}

/** Rows of other programs have no change id: the whole rows are compared. */
function isSameVersion(a: Item | undefined, b: Item | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.changeId !== undefined || b.changeId !== undefined) return a.changeId?.S === b.changeId?.S
  return contents(a) === contents(b)
}

function contents({ PK: _, GSI1PK: __, GSI1SK: ___, ...rest }: Item): string {
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)))
}
