import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import type { HotMember, MemberSource } from '../../../guards/allowlist/hot/port.js'
import { allPlaces } from './items.js'
import { ahead } from './key-blocks.js'
import { type FoundRow, isIdentifier, MemberReads } from './member-reads.js'
import type { KnownList, StoredList } from './meta.js'
import { attributesAt, rowOf, visible, WINDOW_ATTRIBUTES } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.copy'

/** For a tier in front of the table. Another table, restored from a backup, may have lists of the same incarnation. */
export function memberSource(store: Store, region: string): MemberSource {
  const place = `${region}/${store.tables.allowlists}`
  return {
    stateOf(list) {
      const { incarnation, generation, layout } = list as KnownList
      return `${place}/${incarnation}.${generation}.${layout}`
    },
    scan: (list) => scan(store, list),
  }
}

async function* scan(store: Store, list: ListRef): AsyncGenerator<HotMember[]> {
  const reads = new MemberReads(store)
  const stored = await store.catalog.read(list.id)
  if (stored?.incarnation !== list.incarnation) return
  for (const place of allPlaces(list.id, stored)) {
    for await (const rows of ahead(reads.pages(VERB, place, { attributes: WINDOW_ATTRIBUTES }))) {
      yield membersOf(rows, stored)
    }
  }
}

/** As one generation sees them. The copier checks at the end whether the generation is still the same. */
function membersOf(rows: FoundRow[], list: StoredList): HotMember[] {
  return rows.flatMap(({ customerId, item }) => {
    const row = rowOf(item, list)
    if (!visible(row, list.generation) || !isIdentifier(customerId)) return []
    const isExpiring = attributesAt(row!, list.generation).expiresAt !== undefined
    return [{ customerId, is: isExpiring ? 'expiring' : 'member' }]
  })
}
