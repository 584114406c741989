import type { Membership } from '../../../guards/allowlist/port.js'
import { type Item, text } from '../client/attributes.js'
import { keyOf } from '../keys.js'
import {
  customerSort,
  GIANT_PARTITION,
  INDEX_NAME,
  listPartition,
  metaKey,
  placeOf,
  readListId,
} from './items.js'
import { readableMeta, recordOf, type StoredList } from './meta.js'
import { rowOf, toMember, visible } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.memberships'

/**
 * The lists of a customer. The index only gives candidates: it is a moment behind the table, and contains rows that
 * no generation sees, so every list is checked. Giant lists have no index, and are all checked.
 */
export class Memberships {
  constructor(private readonly store: Store) {}

  async of(customerId: string, after: string | undefined, limit: number): Promise<Membership[]> {
    const found: Membership[] = []
    let last = after
    while (found.length < limit) {
      const { listIds, end } = await this.candidates(customerId, last, limit)
      found.push(...(await this.confirmed(customerId, listIds)))
      if (end === undefined) break
      last = end
    }
    return found.slice(0, limit)
  }

  /** By id. `end`: all candidates up to it are known; absent if there are no more. */
  private async candidates(
    customerId: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ listIds: string[]; end: string | undefined }> {
    const ofIndex = { IndexName: INDEX_NAME, Limit: limit }
    const pages = await Promise.all([
      this.listIds(ofIndex, 'GSI1PK', 'GSI1SK', customerSort(customerId), after),
      this.listIds({ ConsistentRead: true, Limit: limit }, 'PK', 'SK', GIANT_PARTITION, after),
    ])
    const ends = pages.flatMap(({ listIds, more }) => (more ? [listIds.at(-1)!] : []))
    const end = ends.sort()[0]
    const listIds = pages.flatMap((page) => page.listIds).filter((id) => end === undefined || id <= end)
    return { listIds: [...new Set(listIds)].sort(), end }
  }

  private async listIds(
    input: object,
    partitionName: string,
    sortName: string,
    partition: string,
    after: string | undefined,
  ): Promise<{ listIds: string[]; more: boolean }> {
    const { items, next } = await this.store.client.query(VERB, {
      TableName: this.store.tables.allowlists,
      ...input,
      KeyConditionExpression: '#p = :p AND #s > :s',
      ExpressionAttributeNames: { '#p': partitionName, '#s': sortName },
      ExpressionAttributeValues: {
        ':p': text(partition),
        ':s': text(listPartition(after ?? '')),
      },
    })
    const listIds = items.map((item) => readListId(item[sortName]!.S!)!)
    return { listIds, more: next !== undefined && listIds.length > 0 }
  }

  private async confirmed(customerId: string, listIds: string[]): Promise<Membership[]> {
    const lists = await this.lists(listIds)
    const rows = new Map<StoredList, Item>()
    for (const table of ['allowlists', 'giant'] as const) {
      const places = lists
        .map((list) => ({ list, place: placeOf(list.id, list, customerId) }))
        .filter(({ place }) => place.table === table)
      const items = await this.get(
        table,
        places.map(({ place }) => keyOf(place.partition, customerSort(customerId))),
      )
      const byPartition = new Map(items.map((item) => [item.PK!.S!, item]))
      for (const { list, place } of places) {
        const item = byPartition.get(place.partition)
        if (item !== undefined) rows.set(list, item)
      }
    }
    return lists.flatMap((list) => {
      const row = rowOf(rows.get(list), list)
      if (!visible(row, list.generation)) return []
      return [{ list: recordOf(list), member: toMember(customerId, row!, list.generation) }]
    })
  }

  private async lists(listIds: string[]): Promise<StoredList[]> {
    const items = await this.get('allowlists', listIds.map(metaKey))
    const lists = items
      .flatMap((item) => readableMeta(item) ?? [])
      .filter((list) => list.deletedAt === undefined)
    return lists.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  private async get(table: 'allowlists' | 'giant', keys: Item[]): Promise<Item[]> {
    if (keys.length === 0) return []
    return this.store.client.batchGetItem(VERB, { table: this.store.tables[table], keys, consistent: true })
  }
}
