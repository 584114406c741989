import { invalidCursor } from '../../core/paging.js'
import type { ServerContext } from '../http/context.js'

interface Page<Item> {
  items: readonly Item[]
  nextCursor?: string
}

/** Reads of one call. Somebody who may see little then gets an empty page with a cursor. */
const MAX_READS = 20

/** The first page that has something for a person who may not see everything. */
export async function visiblePage<Query extends { cursor?: string | undefined }, Item>(
  { signIn }: ServerContext,
  query: Query,
  read: (query: Query) => Page<Item> | Promise<Page<Item>>,
  isVisible: (item: Item) => boolean,
): Promise<{ items: Item[]; nextCursor?: string }> {
  // Only people have such limits.
  const people = signIn!
  let cursor = query.cursor === undefined ? undefined : people.openCursor(query.cursor)
  if (query.cursor !== undefined && cursor === undefined) throw invalidCursor()
  for (let reads = 1; ; reads++) {
    const page = await read({ ...query, ...(cursor !== undefined && { cursor }) })
    const items = page.items.filter(isVisible)
    cursor = page.nextCursor
    if (cursor === undefined) return { items }
    if (items.length > 0 || reads === MAX_READS) return { items, nextCursor: people.sealCursor(cursor) }
  }
}
