import { chunksOf } from '../../../core/chunks.js'
import { EntryWriter, RESET_ENTRY } from '../../../guards/allowlist/changes/entry.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { customerSort, placeOf, readCustomerSort } from '../allowlist/items.js'
import type { StoredList } from '../allowlist/meta.js'
import { attributesAt, rowOf, visible, WINDOW_ATTRIBUTES } from '../allowlist/rows.js'
import type { Item } from '../client/attributes.js'
import { MAX_BATCH_KEYS } from '../client/batches.js'
import type { DynamoClient } from '../client/client.js'
import { keyOf } from '../keys.js'
import type { NewEntry } from './log-writer.js'

export const RESET_CHANGE: NewEntry = { bytes: RESET_ENTRY, changeIds: [] }

/** Leaves room in the item for change ids and keys. */
const MAX_ENTRY_BYTES = 330 * 1024
const MAX_TIME = 2 ** 48 - 1
const AT_ONCE = 8

const key = Buffer.alloc(MAX_CUSTOMER_KEY_LENGTH)

/** The current state of the customers, packed; undefined if it does not fit an item. */
export function entryAsItIsNow(
  list: StoredList,
  customers: readonly string[],
  rows: ReadonlyMap<string, Item>,
): Uint8Array | undefined {
  const writer = new EntryWriter()
  for (const customerId of customers) {
    const end = writeCustomerKey(customerId, key, 0)
    const row = rowOf(rows.get(customerId), list)
    if (visible(row, list.generation)) {
      const { expiresAt } = attributesAt(row!, list.generation)
      // In an entry, 0 means never.
      const until = expiresAt === undefined ? undefined : Math.max(1, storableTime(expiresAt))
      writer.added(key, 0, end, storableTime(row!.addedAt), until)
    } else {
      writer.removed(key, 0, end)
    }
  }
  const bytes = writer.bytes()
  return bytes.length > MAX_ENTRY_BYTES ? undefined : bytes
}

/** Other programs may have written any number. */
const storableTime = (time: number): number => Math.min(MAX_TIME, Math.max(0, Math.ceil(time)))

/** The current rows of these customers of a list. */
export async function readRows(
  client: DynamoClient,
  table: string,
  list: StoredList,
  customers: readonly string[],
): Promise<Map<string, Item>> {
  const attributes = ['SK', ...WINDOW_ATTRIBUTES]
  const rows = new Map<string, Item>()
  const read = async (part: readonly string[]): Promise<void> => {
    const keys = part.map((id) => keyOf(placeOf(list.id, list, id).partition, customerSort(id)))
    for (const item of await client.batchGetItem('feed.members', {
      table,
      keys,
      consistent: true,
      attributes,
    })) {
      rows.set(readCustomerSort(item.SK?.S ?? '')!, item)
    }
  }
  for (const parts of chunksOf(chunksOf(customers, MAX_BATCH_KEYS), AT_ONCE))
    await Promise.all(parts.map(read))
  return rows
}
