import { number } from '../client/attributes.js'
import { all, when } from '../client/expression.js'
import { whole } from '../client/key-ranges.js'
import { type Key, keyOf } from '../keys.js'
import type { DueTask } from './due.js'
import {
  allPlaces,
  giantKey,
  listPartition,
  META,
  metaKey,
  type Place,
  registryKey,
  usesKey,
} from './items.js'
import type { StoredList } from './meta.js'
import type { Store } from './store.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.upkeep'
const REMOVED_PER_STEP = 1000

/** Sweeps deleted lists: first the members, then the items beside META, last META and the id. */
export class DeletedLists {
  constructor(private readonly store: Store) {}

  async step({ parts: [listId = ''] }: DueTask): Promise<TaskResult> {
    const list = await this.store.catalog.readAny(listId)
    if (list?.deletedAt === undefined) return 'done'
    let room = REMOVED_PER_STEP
    for (const place of placesOf(list)) {
      room -= await this.remove(place, room)
      if (room <= 0) return 'more'
    }
    await this.drop(list)
    return 'done'
  }

  /** Deletes up to this many items of a partition, but not META. */
  private async remove({ table, partition }: Place, room: number): Promise<number> {
    const TableName = this.store.tables[table]
    let removed = 0
    const pages = this.store.client.queryPages(VERB, {
      TableName,
      ...whole(partition),
      ProjectionExpression: 'PK, SK',
      Limit: REMOVED_PER_STEP,
    })
    for await (const page of pages) {
      const keys = page.map(({ PK, SK }): Key => keyOf(PK!.S!, SK!.S!)).filter(({ SK }) => SK.S !== META)
      await this.store.client.batchWrite(
        VERB,
        keys.map((key) => ({ table: TableName, delete: key })),
      )
      removed += keys.length
      if (removed >= room) break
    }
    return removed
  }

  /** After this the id is free. */
  private async drop({ id, incarnation, foreign, deletedAt }: StoredList): Promise<void> {
    const { client, tables, catalog } = this.store
    const TableName = tables.allowlists
    const isSame = when((expression) =>
      all(
        expression.equals('incarnation', foreign ? undefined : number(incarnation)),
        expression.equals('deletedAt', number(deletedAt!)),
      ),
    )
    await client.transactWrite(VERB, [
      { Delete: { TableName, Key: metaKey(id), ...isSame } },
      ...[registryKey(id), giantKey(id), usesKey(id)].map((Key) => ({ Delete: { TableName, Key } })),
    ])
    catalog.forget(id)
  }
}

/** All places where members of the list may be. */
function placesOf(list: StoredList): Place[] {
  const layouts = [list, list.moving, list.dropping].filter((layout) => layout !== undefined)
  const places = layouts.flatMap((layout) => allPlaces(list.id, layout))
  const beside: Place = { table: 'allowlists', partition: listPartition(list.id), shard: 0 }
  return [
    ...new Map([...places, beside].map((place) => [`${place.table} ${place.partition}`, place])).values(),
  ]
}
