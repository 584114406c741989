import { chunksOf } from '../../../core/chunks.js'
import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import type {
  BatchOutcome,
  ImportCheckpoint,
  ImportSession,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import { inTurns } from '../client/in-turns.js'
import type { BatchCounts } from './batch-counts.js'
import { type BulkChanges, readItems } from './bulk-changes.js'
import { AddedRows, type ImportedCustomer, importedCustomers } from './bulk-rows.js'
import { expiryTasks } from './due.js'
import { ImportLease } from './import-lease.js'
import { checkpointed, type ImportRecords, type StoredImport } from './imports.js'
import { placeOf } from './items.js'
import { withBatch } from './member-steps.js'
import type { StoredList } from './meta.js'
import { newBatchName, type OpenBatch } from './open-batches.js'
import { encodeRow, type Row, rowOf, unchangedRow } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.import'
const INSERTED_AT_ONCE = 25
const REQUESTS_AT_ONCE = 4
const LOOKED_UP_AT_ONCE = 100

export interface BulkParts {
  store: Store
  records: ImportRecords
  counts: BatchCounts
  changes: BulkChanges
}

/** The customers `from` to `to` of a run. */
interface GivenBatch {
  session: ImportSession
  record: StoredImport
  run: SortedCustomers
  from: number
  to: number
  now: number
}

type Stop = 'lost' | 'list-not-found'

/** Adds one batch of an import. */
export class BatchOfAdds {
  private readonly rows: AddedRows
  private readonly entrants: ImportedCustomer[]
  private readonly lease: ImportLease
  private added = 0
  /** Rows that the batch has inserted and not counted yet. */
  private inserted = 0

  constructor(
    private readonly parts: BulkParts,
    private readonly given: GivenBatch,
  ) {
    const { session, record, now } = given
    const [batch, counted] = [newBatchName(record.nonce), newBatchName(record.nonce)]
    this.rows = new AddedRows(session, batch, counted, record.unpublished, now)
    this.entrants = importedCustomers(given.run, given.from, given.to)
    const { records } = parts
    this.lease = new ImportLease(session, now, record.leaseUntil, (at) => records.renew(session, at))
  }

  async toEnd(
    list: StoredList,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
  ): Promise<BatchOutcome> {
    try {
      await this.noteExpiries()
      const end = await this.add(list, advance)
      return end ?? { outcome: 'stored', added: this.added, unchanged: this.entrants.length - this.added }
    } catch (error) {
      if (error instanceof ImportStopped) return { outcome: error.outcome }
      throw error
    }
  }

  /** Recorded before they are members, so that none is missed. */
  private async noteExpiries(): Promise<void> {
    const expiring = this.entrants.flatMap(({ customerId, given }) =>
      given?.expiresAt === undefined ? [] : [{ customerId, expiresAt: given.expiresAt }],
    )
    await this.parts.store.due.note(expiryTasks(this.given.session.listId, expiring))
  }

  private async add(
    first: StoredList,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
  ): Promise<{ outcome: Stop } | undefined> {
    let list: StoredList | undefined = first
    while (list !== undefined && list.incarnation === this.given.session.incarnation) {
      const isPlain = list.replacing === undefined && list.moving === undefined
      if (!isPlain || this.entrants.length === 0) return this.carefully(advance)
      const batch = this.batch()
      const opening = await this.parts.counts.open(list, batch)
      list = opening.list
      if (!opening.opened) continue
      await this.insert(list!)
      const end = await this.parts.counts.close(list!.id, batch.name, this.inserted, this.given.now, [
        this.parts.records.put(this.checkpointed(advance)),
      ])
      if (end === 'closed') return undefined
      return { outcome: end === 'gone' ? 'list-not-found' : 'lost' }
    }
    return { outcome: 'list-not-found' }
  }

  private batch(): OpenBatch {
    const sorted = this.entrants.map(({ customerId }) => customerId).sort()
    const { nonce } = this.given.record
    const { importId } = this.given.session
    return { nonce, importId, name: this.rows.batch, taken: 0, first: sorted[0]!, last: sorted.at(-1)! }
  }

  private checkpointed(advance: (added: number, unchanged: number) => ImportCheckpoint): StoredImport {
    const checkpoint = advance(this.added, this.entrants.length - this.added)
    return checkpointed(this.given.record, checkpoint, this.given.session, this.given.now)
  }

  private async carefully(
    advance: (added: number, unchanged: number) => ImportCheckpoint,
  ): Promise<{ outcome: Stop } | undefined> {
    await this.change(this.entrants)
    return (await this.parts.records.save(this.checkpointed(advance))) ? undefined : { outcome: 'lost' }
  }

  private async change(entrants: readonly ImportedCustomer[]): Promise<void> {
    if (entrants.length === 0) return
    // Recorded first: if the import is resumed, a row that was counted must be reported as added.
    const unpublished = [...this.given.record.unpublished, this.rows.counted]
    if (!(await this.parts.records.recordUnpublished(this.given.session, unpublished)))
      throw new ImportStopped('lost')
    const byId = new Map(entrants.map((entrant) => [entrant.customerId, entrant]))
    const { session, now } = this.given
    const outcome = await this.parts.changes.apply([...byId.keys()], {
      ...{ session, now },
      decide: (list, before, customerId) => this.rows.changed(list, before, byId.get(customerId)!),
      each: ({ before }, list) => {
        if (this.rows.isOwn(before) || !this.rows.isMember(list, before)) this.added++
      },
    })
    if (outcome !== 'applied') throw new ImportStopped(outcome)
  }

  private async insert(list: StoredList): Promise<void> {
    const chunks = chunksOf(this.entrants, INSERTED_AT_ONCE)
    const present: ImportedCustomer[] = []
    let looksFirst = false
    await inTurns(chunks, REQUESTS_AT_ONCE, async (chunk) => {
      const absent = looksFirst ? await this.absent(list, chunk) : chunk
      const found = chunk.filter((entrant) => !absent.includes(entrant))
      found.push(...(await this.insertChunk(list, absent)))
      present.push(...found)
      // A refused insert costs as much as a successful one, and much more than a read.
      looksFirst = found.length > chunk.length / 2
    })
    const odd: ImportedCustomer[] = []
    await inTurns(chunksOf(present, LOOKED_UP_AT_ONCE), REQUESTS_AT_ONCE, async (chunk) => {
      odd.push(...(await this.meet(list, chunk)))
    })
    await this.change(odd)
  }

  private async absent(list: StoredList, chunk: readonly ImportedCustomer[]): Promise<ImportedCustomer[]> {
    const items = await readItems(this.parts.store, list, idsOf(chunk))
    return chunk.filter(({ customerId }) => !items.has(customerId))
  }

  /** Returns those that already have a row. */
  private async insertChunk(
    list: StoredList,
    chunk: readonly ImportedCustomer[],
  ): Promise<ImportedCustomer[]> {
    if (chunk.length === 0) return []
    const places = chunk.map(({ customerId }) => placeOf(list.id, list, customerId))
    const items = chunk.map((entrant, i) =>
      encodeRow({ listId: list.id, ...places[i]!, customerId: entrant.customerId }, this.rows.fresh(entrant)),
    )
    const table = this.parts.store.tables[places[0]!.table]
    const { value: ends } = await this.lease.within((timeoutMs) =>
      this.parts.store.client.insertItems(VERB, table, items, { timeoutMs }),
    )
    const inserted = ends.filter((end) => end.inserted).length
    this.inserted += inserted
    this.added += inserted
    return chunk.filter((_, i) => !ends[i]!.inserted)
  }

  /** Handles customers who have a row. Returns those who need more than other attributes. */
  private async meet(list: StoredList, chunk: readonly ImportedCustomer[]): Promise<ImportedCustomer[]> {
    const items = await readItems(this.parts.store, list, idsOf(chunk))
    const odd: ImportedCustomer[] = []
    await inTurns(chunk, REQUESTS_AT_ONCE, async (entrant) => {
      const item = items.get(entrant.customerId)
      const row = rowOf(item, list)
      if (row?.batch === this.rows.batch) {
        // Inserted by an attempt whose response was lost.
        this.added++
        this.inserted++
        return
      }
      const after = this.rows.changed(list, row, entrant)
      if (after === 'as it is') {
        if (this.rows.isOwn(row)) this.added++
        return
      }
      if (!this.rows.isMember(list, row)) odd.push(entrant)
      else if (!(await this.rewrite(list, entrant.customerId, item!, withBatch(list, row, after)))) {
        odd.push(entrant)
      }
    })
    return odd
  }

  /** Writes other attributes of a member; no count changes. False: another writer changed it meanwhile. */
  private async rewrite(
    list: StoredList,
    customerId: string,
    before: NonNullable<Parameters<typeof unchangedRow>[0]>,
    after: Row,
  ): Promise<boolean> {
    const place = placeOf(list.id, list, customerId)
    const input = {
      TableName: this.parts.store.tables[place.table],
      Item: encodeRow({ listId: list.id, ...place, customerId }, after),
      ...unchangedRow(before),
    }
    const { value: result } = await this.lease.within((timeoutMs) =>
      this.parts.store.client.putItem(VERB, input, { timeoutMs }),
    )
    return result.applied || result.item?.changeId?.S === after.changeId
  }
}

const idsOf = (entrants: readonly ImportedCustomer[]): string[] =>
  entrants.map(({ customerId }) => customerId)
