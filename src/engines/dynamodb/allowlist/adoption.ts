import { randomBytes } from 'node:crypto'
import { type Item, number, optionalNumber, optionalText, text, textOf } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { giantKey, META, readListId, registryKey, STORE_KEY } from './items.js'
import { isIdentifier } from './member-reads.js'
import { GIANT_STORAGE, type StoredList } from './meta.js'
import type { AdoptionProgress, ScanOptions } from './scan-facts.js'
import { judgedPages, UnservedRows } from './unserved.js'

const VERB = 'allowlist.adopt'
/** Pages of 1 MB that are scanned when a table is opened for the first time: two thousand units at most. */
const FIRST_LOOK_PAGES = 16
const MAX_REMEMBERED = 10_000
const LIST_TYPES = new Set(['FIXA', 'ONDA'])

export interface StoreIdentity {
  /** Identifies this store, so that a write token of another store is recognised. */
  id: string
  /** How far the table was scanned for lists of other programs: the first pages, or all of it. */
  adoption?: 'partial' | 'complete'
  /** Rows of other programs that no check will find, counted by the last scan. */
  unserved?: number
}

/**
 * Lists of other programs are not in the registry, from which lists are paged. They are registered when they are
 * first used, when the stream reports them, and by a scan: some pages at the first start, the whole table by command,
 * because the whole table must be read and paid.
 */
export class Adoption {
  private readonly noticedIds = new Set<string>()

  constructor(
    private readonly client: DynamoClient,
    private readonly tables: Record<'allowlists' | 'giant', string>,
  ) {}

  private get table(): string {
    return this.tables.allowlists
  }

  /** Registers a list of another program; not awaited. */
  noticed(list: StoredList): void {
    if (this.noticedIds.has(list.id)) return
    if (this.noticedIds.size >= MAX_REMEMBERED) this.noticedIds.clear()
    this.noticedIds.add(list.id)
    this.enter(list.id, list.giant).catch(() => this.noticedIds.delete(list.id))
  }

  async enter(listId: string, giant: boolean): Promise<void> {
    for (const Item of giant ? [registryKey(listId), giantKey(listId)] : [registryKey(listId)]) {
      await this.client.putItem(VERB, { TableName: this.table, Item })
    }
  }

  /** Scans the tables; `isWhole` is false if it stopped before the end. */
  async look(
    maxPages: number,
    { onProgress = () => {}, onUnserved = () => {} }: ScanOptions = {},
  ): Promise<AdoptionProgress & { isWhole: boolean }> {
    const progress: AdoptionProgress = { scanned: 0, lists: 0, unserved: 0 }
    const rows = new UnservedRows(this.client, this.tables)
    let pages = 0
    let isWhole = true
    for (const table of ['allowlists', 'giant'] as const) {
      // One page is left for the other table.
      const lastPage = table === 'allowlists' ? maxPages - 1 : maxPages
      for await (const { items, scanned, next } of judgedPages(this.client, this.tables[table])) {
        for (const row of await rows.among(items, table)) {
          progress.unserved++
          onUnserved(row)
        }
        for (const item of items) {
          const list = table === 'allowlists' ? listOf(item) : undefined
          if (list === undefined) continue
          await this.enter(list.id, list.isGiant)
          progress.lists++
        }
        progress.scanned += scanned
        onProgress({ ...progress })
        if (++pages >= lastPage && next !== undefined) {
          isWhole = false
          break
        }
      }
    }
    return { ...progress, isWhole }
  }

  /** The identity of the store. The first process that opens it creates it. */
  async open(): Promise<StoreIdentity> {
    const identity = (await this.read()) ?? (await this.create())
    if (identity.adoption !== undefined) return identity
    const { isWhole, unserved } = await this.look(FIRST_LOOK_PAGES)
    const adoption = isWhole ? 'complete' : 'partial'
    await this.note(adoption, unserved)
    return { ...identity, adoption, unserved }
  }

  async note(adoption: 'partial' | 'complete', unserved: number): Promise<void> {
    const expression = new Expression().set({ adoption: text(adoption), unserved: number(unserved) })
    const input = { TableName: this.table, Key: STORE_KEY, ...expression.update() }
    await this.client.updateItem(VERB, input, { repeatable: true })
  }

  private async read(): Promise<StoreIdentity | undefined> {
    const item = await this.client.readItem(VERB, this.table, STORE_KEY)
    return item && readIdentity(item)
  }

  private async create(): Promise<StoreIdentity> {
    const Item = { ...STORE_KEY, id: text(randomBytes(8).toString('hex')) }
    const result = await this.client.putItem(VERB, {
      TableName: this.table,
      Item,
      ConditionExpression: 'attribute_not_exists(PK)',
    })
    return readIdentity(result.applied ? Item : result.item!)
  }
}

export function readIdentity(item: Item): StoreIdentity {
  const adoption = optionalText(item, 'adoption') as StoreIdentity['adoption']
  const unserved = optionalNumber(item, 'unserved')
  return {
    id: textOf(item, 'id'),
    ...(adoption !== undefined && { adoption }),
    ...(unserved !== undefined && { unserved }),
  }
}

function listOf(item: Item): { id: string; isGiant: boolean } | undefined {
  const id = item.SK?.S === META ? readListId(item.PK!.S!) : undefined
  if (id === undefined || !isIdentifier(id) || !LIST_TYPES.has(item.type?.S ?? '')) return undefined
  return { id, isGiant: optionalText(item, 'storage') === GIANT_STORAGE }
}
