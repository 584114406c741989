import { isUuid } from '../../../core/identifiers.js'
import { type Item, text } from '../client/attributes.js'
import type { DynamoClient, ScanPage } from '../client/client.js'
import {
  CUSTOMER_PREFIX,
  META,
  metaKey,
  type Place,
  readCustomerSort,
  readListId,
  readMemberPartition,
} from './items.js'
import { isIdentifier } from './member-reads.js'
import { decodeMeta, placesOf, type StoredList } from './meta.js'
import type { UnservedRow } from './scan-facts.js'

const VERB = 'allowlist.adopt'
const MAX_REMEMBERED = 10_000

/** The attributes that identify our own rows, which checks may not find while a list is moved or swept. */
const OWN = ['changeId', 'batch', 'incarnation'] as const
const JUDGED_ATTRIBUTES = ['PK', 'SK', 'type', 'storage', ...OWN] as const

/** The lists and members in a table, page by page, with the attributes needed to evaluate them. */
export async function* judgedPages(client: DynamoClient, TableName: string): AsyncGenerator<ScanPage> {
  let start: Item | undefined
  do {
    const page = await client.scan(VERB, {
      TableName,
      ProjectionExpression: JUDGED_ATTRIBUTES.map((_, i) => `#${i}`).join(', '),
      FilterExpression: '#1 = :meta OR begins_with(#1, :customer)',
      ExpressionAttributeNames: Object.fromEntries(JUDGED_ATTRIBUTES.map((name, i) => [`#${i}`, name])),
      ExpressionAttributeValues: { ':meta': text(META), ':customer': text(CUSTOMER_PREFIX) },
      ...(start !== undefined && { ExclusiveStartKey: start }),
    })
    yield page
    start = page.next
  } while (start !== undefined)
}

type Known = StoredList | 'unreadable' | undefined

/** Finds rows of other programs that no check will ever find. */
export class UnservedRows {
  private readonly lists = new Map<string, Promise<Known>>()

  constructor(
    private readonly client: DynamoClient,
    private readonly tables: Record<'allowlists' | 'giant', string>,
  ) {}

  async among(items: readonly Item[], table: 'allowlists' | 'giant'): Promise<UnservedRow[]> {
    const found: UnservedRow[] = []
    for (const item of items) {
      const why = await this.judge(item, table)
      if (why === undefined) continue
      found.push({ table: this.tables[table], partition: item.PK!.S!, sort: item.SK!.S!, why })
    }
    return found
  }

  private async judge(item: Item, table: Place['table']): Promise<UnservedRow['why'] | undefined> {
    const [partition, sort] = [item.PK!.S!, item.SK!.S!]
    if (sort === META) {
      const listId = readListId(partition)
      if (listId === undefined) return undefined
      if (!isIdentifier(listId)) return 'list-id'
      return (await this.list(listId)) === 'unreadable' ? 'unreadable-list' : undefined
    }
    const customerId = readCustomerSort(sort)
    const of = readMemberPartition(partition)
    if (customerId === undefined || of === undefined) return undefined
    if (!isIdentifier(customerId)) return isUuid(customerId) ? 'uuid-case' : 'customer-id'
    if (OWN.some((name) => item[name] !== undefined)) return undefined
    const list = await this.list(of.listId)
    if (list === undefined) return 'no-list'
    // The list itself is reported.
    if (list === 'unreadable' || list.deletedAt !== undefined) return undefined
    const isServed = placesOf(list, customerId).some(
      (place) => place.table === table && place.partition === partition,
    )
    return isServed ? undefined : 'other-place'
  }

  private list(listId: string): Promise<Known> {
    let list = this.lists.get(listId)
    if (list === undefined) {
      if (this.lists.size >= MAX_REMEMBERED) this.lists.clear()
      this.lists.set(listId, (list = this.read(listId)))
    }
    return list
  }

  private async read(listId: string): Promise<Known> {
    const TableName = this.tables.allowlists
    const item = await this.client.getItem(VERB, { TableName, Key: metaKey(listId), ConsistentRead: true })
    if (item === undefined) return undefined
    try {
      return decodeMeta(item)
    } catch {
      return 'unreadable'
    }
  }
}
