import { type Listing, type ListingRequest, MAX_EXAMINED, placeParts } from '../../../core/listing.js'
import { type Item, text } from './attributes.js'
import type { DynamoClient } from './client.js'

const ITEMS_PER_SCAN = 500

interface Scanned {
  table: string
  /** The key of the table: partition, and sort if it has one. */
  key: readonly string[]
  /** The sort key of the items, if the table has one. */
  sort?: string
  /** Read beside the key. */
  attributes: readonly string[]
}

/** Items whose partition key begins with the prefix. A table has no order by it, so this scans a bounded part. */
export async function scanPrefix(
  client: DynamoClient,
  verb: string,
  { table, key, sort, attributes }: Scanned,
  { prefix, after, limit }: ListingRequest,
): Promise<Listing<Item>> {
  const [partition = '', sortName] = key
  const names = [...key, ...attributes]
  const isOfSort = sort === undefined ? '' : ' AND #1 = :sort'
  const items: Item[] = []
  let start = after === undefined ? undefined : keyIn(key, after)
  for (let examined = 0; examined < MAX_EXAMINED; ) {
    const page = await client.scan(verb, {
      TableName: table,
      Limit: ITEMS_PER_SCAN,
      ConsistentRead: true,
      FilterExpression: `begins_with(#0, :prefix)${isOfSort}`,
      ProjectionExpression: names.map((_, i) => `#${i}`).join(', '),
      ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
      ExpressionAttributeValues: { ':prefix': text(prefix), ...(sort && { ':sort': text(sort) }) },
      ...(start && { ExclusiveStartKey: start }),
    })
    // An emulator matches the beginning in any case.
    const found = page.items.filter(
      (item) => item[partition]?.S?.startsWith(prefix) && (sort === undefined || item[sortName!]?.S === sort),
    )
    for (const item of found) if (items.push(item) === limit) return { items, next: placeOf(key, item) }
    start = page.next
    if (start === undefined) return { items }
    examined += Math.max(1, page.scanned)
  }
  return { items, next: placeOf(key, start!) }
}

const placeOf = (key: readonly string[], item: Item): string =>
  JSON.stringify(key.map((name) => item[name]?.S ?? ''))

function keyIn(key: readonly string[], after: string): Item {
  const parts = placeParts(after, key.length)
  return Object.fromEntries(key.map((name, i) => [name, text(parts[i]!)]))
}
