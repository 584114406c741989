import { number, numberOf } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { inTurns } from '../client/in-turns.js'
import { whole } from '../client/key-ranges.js'
import { metaKey, readListId, USES_PARTITION, usesKey } from './items.js'
import type { Store } from './store.js'

const VERB = 'allowlist.uses'
const AT_ONCE = 8
/** Counts are halved when one gets this high, so that old use counts less. */
const MAX_USES = 1e9

/** How often lists were checked, approximately. */
export class ListUses {
  constructor(private readonly store: Store) {}

  add(uses: ReadonlyMap<string, number>): Promise<void> {
    return inTurns([...uses], AT_ONCE, async ([listId, count]) => {
      if ((await this.store.catalog.recent(listId)) !== undefined) await this.addOne(listId, count)
    })
  }

  private async addOne(listId: string, count: number): Promise<void> {
    const { client, tables } = this.store
    const where = { TableName: tables.allowlists, Key: usesKey(listId) }
    const more = {
      ...where,
      ReturnValues: 'UPDATED_NEW' as const,
      ...new Expression().add({ uses: count }).update(),
    }
    const { item } = await client.updateItem(VERB, more, { repeatable: false })
    const sum = item === undefined ? 0 : numberOf(item, 'uses')
    if (sum <= MAX_USES) return
    const half = new Expression().set({ uses: number(Math.round(sum / 2)) })
    half.when(half.equals('uses', number(sum)))
    await client.updateItem(VERB, { ...where, ...half.update() }, { repeatable: true })
  }

  async most(limit: number): Promise<string[]> {
    const { client, tables } = this.store
    const counted: { listId: string; uses: number }[] = []
    const input = { TableName: tables.allowlists, ...whole(USES_PARTITION), ConsistentRead: false }
    for (const item of await client.queryAll(VERB, input))
      counted.push({ listId: readListId(item.SK!.S!)!, uses: numberOf(item, 'uses') })
    counted.sort((a, b) => b.uses - a.uses)
    const found: string[] = []
    for (let at = 0; at < counted.length && found.length < limit; at += limit) {
      found.push(...(await this.living(counted.slice(at, at + limit).map(({ listId }) => listId))))
    }
    return found.slice(0, limit)
  }

  private async living(listIds: string[]): Promise<string[]> {
    const items = await this.store.client.batchGetItem(VERB, {
      table: this.store.tables.allowlists,
      keys: listIds.map(metaKey),
      attributes: ['PK', 'deletedAt'],
    })
    const living = new Set(items.filter(({ deletedAt }) => deletedAt === undefined).map(({ PK }) => PK!.S!))
    return listIds.filter((id) => living.has(metaKey(id).PK.S))
  }
}
