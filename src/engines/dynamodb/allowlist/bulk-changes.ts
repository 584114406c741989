import { CatracaError } from '../../../core/errors.js'
import type { ImportSession } from '../../../guards/allowlist/port.js'
import type { Item } from '../client/attributes.js'
import { MAX_TRANSACTION_ITEMS, type TransactionItem } from '../client/transactions.js'
import type { ImportRecords } from './imports.js'
import { readCustomerSort } from './items.js'
import { changeSteps, META_STEP, rowKey } from './member-steps.js'
import { placesOf, type StoredList } from './meta.js'
import { type Row, rowOf } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.import'
/** META, and the record of the import. */
const OTHER_STEPS = 2

export type DecideMany = (
  list: StoredList,
  before: Row | undefined,
  customerId: string,
) => Row | undefined | 'as it is'

/** The result for one customer. */
export interface BulkChange {
  customerId: string
  before: Row | undefined
  after: Row | undefined | 'as it is'
}

/**
 * Changes many members with their counts, as many per transaction as fit. It costs twice as much as plain writes, and
 * blocks META meanwhile. It is for cases that plain writes cannot handle: a replace or a move is running, or there is
 * a row that no generation sees.
 */
export class BulkChanges {
  constructor(
    private readonly store: Store,
    private readonly records: ImportRecords,
  ) {}

  async apply(
    session: ImportSession,
    customers: readonly string[],
    decide: DecideMany,
    now: number,
    each: (change: BulkChange, list: StoredList) => void,
  ): Promise<'applied' | 'lost' | 'list-not-found'> {
    let next = 0
    while (next < customers.length) {
      const part = customers.slice(next, next + (MAX_TRANSACTION_ITEMS - OTHER_STEPS) / 2)
      const outcome = await this.applyPart(session, part, decide, now, each)
      if (outcome !== 'applied') return outcome
      next += part.length
    }
    return 'applied'
  }

  private async applyPart(
    session: ImportSession,
    customers: readonly string[],
    decide: DecideMany,
    now: number,
    each: (change: BulkChange, list: StoredList) => void,
  ): Promise<'applied' | 'lost' | 'list-not-found'> {
    const { catalog, client, settings } = this.store
    const endsAt = performance.now() + settings.writeTimeoutMs
    let list = await catalog.recent(session.listId)
    while (list !== undefined && list.incarnation === session.incarnation) {
      const items = await readItems(this.store, list, customers)
      const changes = customers.map((customerId): BulkChange => {
        const before = rowOf(items.get(customerId), list!)
        return { customerId, before, after: decide(list!, before, customerId) }
      })
      const steps = this.steps(session, list, changes, items, now)
      const result = steps === undefined ? undefined : await client.transactWrite(VERB, steps)
      if (result === undefined || result.applied) {
        for (const change of changes) each(change, list)
        return 'applied'
      }
      const [ofMeta, ofRecord] = [META_STEP, steps!.length - 1].map((step) =>
        result.refusals.find(({ index }) => index === step),
      )
      if (ofRecord !== undefined) return this.isThere(session)
      if (ofMeta !== undefined) list = catalog.learned(list.id, ofMeta.item)
      if (performance.now() > endsAt) {
        throw new CatracaError('ENGINE_UNAVAILABLE', 'others keep changing these members; try again')
      }
    }
    return 'list-not-found'
  }

  /** The record is deleted with its list. */
  private async isThere(session: ImportSession): Promise<'lost' | 'list-not-found'> {
    const list = await this.store.catalog.read(session.listId)
    return list?.incarnation === session.incarnation ? 'lost' : 'list-not-found'
  }

  /** The record of the import comes last. */
  private steps(
    session: ImportSession,
    list: StoredList,
    changes: readonly BulkChange[],
    items: ReadonlyMap<string, Item>,
    now: number,
  ): TransactionItem[] | undefined {
    const real = changes.flatMap(({ customerId, before, after }) =>
      after === 'as it is' ? [] : [{ customerId, before, after, item: items.get(customerId), now }],
    )
    if (real.length === 0) return undefined
    return [...changeSteps(this.store.tables, list, real).steps, this.records.check(session)]
  }
}

/** The authoritative rows, read consistently, by customer. */
export async function readItems(
  store: Store,
  list: StoredList,
  customers: readonly string[],
): Promise<Map<string, Item>> {
  if (customers.length === 0) return new Map()
  const places = customers.map((customerId) => ({ customerId, place: placesOf(list, customerId)[0]! }))
  const found = await store.client.batchGetItem(VERB, {
    table: store.tables[places[0]!.place.table],
    keys: places.map(({ customerId, place }) => rowKey(place, customerId)),
    consistent: true,
  })
  return new Map(found.map((item) => [readCustomerSort(item.SK!.S!)!, item]))
}
