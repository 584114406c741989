import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { bytes, bytesOf, number, text, textOf } from '../client/attributes.js'
import { startingWith } from '../client/key-ranges.js'
import { listPartition, pageKey, pageNameKey, pageNamePrefix } from './items.js'
import type { Store } from './store.js'

const VERB = 'allowlist.index'

/**
 * Pages of an index, one item each, and beside each a small item with its name: listing the pages themselves would
 * cost as much as reading them. The name is written before its page, so that no page can be lost.
 */
export class IndexPages {
  constructor(private readonly store: Store) {}

  async read(list: ListRef, name: string): Promise<Uint8Array | undefined> {
    const item = await this.store.client.readItem(VERB, this.table, pageKey(list, name))
    return item && bytesOf(item, 'buffer')
  }

  async write(list: ListRef, owner: string, name: string, page: Uint8Array): Promise<void> {
    const { client } = this.store
    const TableName = this.table
    await client.putItem(VERB, { TableName, Item: { ...pageNameKey(list, name), owner: text(owner) } })
    await client.putItem(VERB, {
      TableName,
      Item: { ...pageKey(list, name), buffer: bytes(page), sizeBytes: number(page.length) },
    })
  }

  /** The names of all pages of the list, with their writers. */
  async names(list: ListRef): Promise<Map<string, string>> {
    const prefix = pageNamePrefix(list)
    const names = new Map<string, string>()
    const range = startingWith(listPartition(list.id), prefix)
    const pages = this.store.client.queryPages(VERB, { TableName: this.table, ...range })
    for await (const items of pages) {
      for (const item of items) names.set(item.SK!.S!.slice(prefix.length), textOf(item, 'owner'))
    }
    return names
  }

  /** Pages first: a page without its name would stay for ever. */
  async drop(list: ListRef, names: Iterable<string>): Promise<void> {
    const gone = [...names]
    for (const key of [pageKey, pageNameKey]) {
      await this.store.client.batchWrite(
        VERB,
        gone.map((name) => ({ table: this.table, delete: key(list, name) })),
      )
    }
  }

  private get table(): string {
    return this.store.tables.allowlists
  }
}
