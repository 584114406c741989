import { chunksOf } from '../../../core/chunks.js'
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

/** The result for one customer. */
interface BulkChange {
  customerId: string
  before: Row | undefined
  after: Row | undefined | 'as it is'
}

interface AskedChanges {
  session: ImportSession
  now: number
  decide(list: StoredList, before: Row | undefined, customerId: string): BulkChange['after']
  /** Called for each change that was applied. */
  each(change: BulkChange, list: StoredList): void
}

type NotApplied = 'lost' | 'list-not-found'

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

  async apply(customers: readonly string[], asked: AskedChanges): Promise<'applied' | NotApplied> {
    for (const part of chunksOf(customers, (MAX_TRANSACTION_ITEMS - OTHER_STEPS) / 2)) {
      const outcome = await this.applyPart(part, asked)
      if (outcome !== 'applied') return outcome
    }
    return 'applied'
  }

  private async applyPart(
    customers: readonly string[],
    { session, decide, now, each }: AskedChanges,
  ): Promise<'applied' | NotApplied> {
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
        throw new CatracaError('ENGINE_UNAVAILABLE', 'other callers keep changing these members; try again')
      }
    }
    return 'list-not-found'
  }

  /** The record is deleted with its list. */
  private async isThere(session: ImportSession): Promise<NotApplied> {
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
