import { identifier } from '../../../core/identifiers.js'
import type { Item } from '../client/attributes.js'
import { startingWith } from '../client/key-ranges.js'
import { keyOf } from '../keys.js'
import { belongsAt, CUSTOMER_PREFIX, customerSort, type Place, readCustomerSort } from './items.js'
import type { Store } from './store.js'

export interface FoundRow {
  customerId: string
  item: Item
}

/** Reads rows of members in key order. */
export class MemberReads {
  constructor(private readonly store: Store) {}

  /** One by one, after a customer. `pageSize`: rows per request; `prefix`: only customers whose id begins so. */
  async *rows(
    verb: string,
    place: Place,
    options: { behind?: string | undefined; pageSize: number; prefix?: string | undefined },
  ): AsyncGenerator<FoundRow> {
    for await (const page of this.pages(verb, place, options)) yield* page
  }

  /** Whole pages, as DynamoDB returns them; some may be empty. `attributes`: only these, beside the key. */
  async *pages(
    verb: string,
    place: Place,
    options: {
      behind?: string | undefined
      pageSize?: number
      attributes?: readonly string[]
      prefix?: string | undefined
    } = {},
  ): AsyncGenerator<FoundRow[]> {
    const { behind, pageSize, attributes, prefix = '' } = options
    const names = attributes === undefined ? undefined : ['SK', ...attributes]
    const pages = this.store.client.queryPages(verb, {
      TableName: this.store.tables[place.table],
      ...startingWith(place.partition, CUSTOMER_PREFIX + prefix),
      ...(pageSize !== undefined && { Limit: pageSize }),
      ...(behind !== undefined && { ExclusiveStartKey: keyOf(place.partition, customerSort(behind)) }),
      ...(names !== undefined && {
        ProjectionExpression: names.map((_, i) => `#${i}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
      }),
    })
    for await (const items of pages) {
      const rows = items.map((item) => ({ customerId: readCustomerSort(item.SK!.S!)!, item }))
      // An emulator matches the beginning in any case.
      yield rows.filter(({ customerId }) => customerId.startsWith(prefix) && belongsAt(place, customerId))
    }
  }
}

/** Whether an id of another program is valid here, so that it can be checked. */
export function isIdentifier(id: string): boolean {
  try {
    return identifier('customerId', id) === id
  } catch {
    return false
  }
}
