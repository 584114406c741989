import type { Command } from 'commander'
import type { ListedPage, ListingQuery } from '../../../core/listing.js'
import { type Columns, note, printRows } from '../../output/print.js'
import { addPageOptions, type Session } from './session.js'

export const LISTING = ['prefix', 'limit', 'cursor'] as const

/** The flags of a command that lists what a store keeps under names. */
export function addListingOptions(command: Command): Command {
  return addPageOptions(command.option('--prefix <text>', 'only names that begin so'))
}

/** A page can be empty although more pages follow; a user at a terminal wants to see items. */
export async function firstListed<T, Query extends ListingQuery>(
  read: (query: Query) => Promise<ListedPage<T>>,
  query: Query,
): Promise<ListedPage<T>> {
  let page = await read(query)
  while (page.items.length === 0 && page.nextCursor !== undefined) {
    page = await read({ ...query, cursor: page.nextCursor })
  }
  return page
}

export function printListing<T>(print: Session['print'], page: ListedPage<T>, columns: Columns<T>): void {
  print(page, () => {
    printRows(page.items, columns)
    if (page.nextCursor !== undefined) note(`there may be more: --cursor ${page.nextCursor}`)
  })
}
