import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { KeyBlock } from '../../../guards/allowlist/membership/port.js'
import { allPlaces } from './items.js'
import { type FoundRow, isIdentifier, MemberReads } from './member-reads.js'
import type { StoredList } from './meta.js'
import { rowOf, visible } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.scan'
/** Enough to decide whether a generation sees the row. */
const ATTRIBUTES = ['fromGen', 'untilGen', 'tombstone', 'incarnation'] as const

/** The keys of all members, shard by shard. */
export async function* keyBlocks(store: Store, list: ListRef): AsyncGenerator<KeyBlock> {
  const reads = new MemberReads(store)
  const stored = await store.catalog.read(list.id)
  if (stored?.incarnation !== list.incarnation) return
  for (const place of allPlaces(list.id, stored)) {
    for await (const rows of ahead(reads.pages(VERB, place, { attributes: ATTRIBUTES }))) {
      // A replace may switch meanwhile.
      const now = await store.catalog.recent(list.id)
      if (now?.incarnation !== list.incarnation) return
      const block = blockOf(rows, now)
      if (block.count > 0) yield block
    }
  }
}

function blockOf(rows: FoundRow[], list: StoredList): KeyBlock {
  let bytes = new Uint8Array(rows.length * 40 + MAX_CUSTOMER_KEY_LENGTH)
  const ends = new Uint32Array(rows.length)
  let count = 0
  let end = 0
  for (const { customerId, item } of rows) {
    if (!visible(rowOf(item, list), list.generation) || !isIdentifier(customerId)) continue
    if (end + MAX_CUSTOMER_KEY_LENGTH > bytes.length) bytes = grown(bytes)
    end = writeCustomerKey(customerId, bytes, end)
    ends[count++] = end
  }
  return { bytes, ends, count }
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * bytes.length)
  larger.set(bytes)
  return larger
}

/** Requests the next page while the previous one is being used. */
export async function* ahead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = pages.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = pages.next()
      // Its failure is thrown when it is consumed.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await pages.return(undefined)
  }
}
