import { CatracaError } from '../../../core/errors.js'
import { latest, notBegun } from '../../../guards/allowlist/import/stored-import.js'
import {
  type BatchOutcome,
  type BeginOutcome,
  type BulkStore,
  type ImportCheckpoint,
  type ImportRecord,
  type ImportRequest,
  type ImportSession,
  MAX_LISTED_IMPORTS,
  type ReplaceOutcome,
} from '../../../guards/allowlist/port.js'
import type { TransactionItem } from '../client/transactions.js'
import { BatchCounts } from './batch-counts.js'
import { BatchOfAdds, type BulkParts } from './bulk-add.js'
import { BulkChanges } from './bulk-changes.js'
import type { DueTask } from './due.js'
import { GenerationSweeps } from './generation-sweeps.js'
import { checkpointed, ImportRecords, leased, newRecord, publicRecord, type StoredImport } from './imports.js'
import type { StoredList } from './meta.js'
import { Replacement } from './replace.js'
import { abandonSteps, beginStep } from './replace-states.js'
import { MOVE } from './reshard.js'
import { DEFAULT_SIZES, layoutFor, type SizeStep } from './shard-sizes.js'
import type { Store } from './store.js'
import { UNPROVABLE } from './tokens.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.import'
/** Upkeep task of an import whose process may die; the parts are its list and its id. */
export const IMPORT = 'IMPORT'

export class DynamodbBulk implements BulkStore {
  private readonly records: ImportRecords
  private readonly counts: BatchCounts
  private readonly parts: BulkParts
  private readonly sweeps: GenerationSweeps

  constructor(
    private readonly store: Store,
    private readonly sizes: readonly SizeStep[] = DEFAULT_SIZES,
  ) {
    this.records = new ImportRecords(store)
    this.counts = new BatchCounts(store, this.records)
    const { records, counts } = this
    this.parts = { store, records, counts, changes: new BulkChanges(store, records) }
    this.sweeps = new GenerationSweeps(store)
  }

  async begin(request: ImportRequest, now: number): Promise<BeginOutcome> {
    for (;;) {
      const outcome = await this.tryBegin(request, now)
      if (outcome !== 'again') return outcome
    }
  }

  private async tryBegin(request: ImportRequest, now: number): Promise<BeginOutcome | 'again'> {
    const list = await this.store.catalog.read(request.listId)
    if (list === undefined) return { outcome: 'list-not-found' }
    const session: ImportSession = { ...request, incarnation: list.incarnation }
    const existing = await this.records.read(list, request.importId)
    const ended = notBegun(session, existing && leased(existing), now)
    if (ended !== undefined) return ended
    const refused = request.mode === 'replace' ? await this.clearTheWay(list, now) : undefined
    if (refused !== undefined) return refused
    const record = newRecord(request, list.incarnation, existing, now)
    if (!(await this.claim(list, request, record, existing))) return 'again'
    // Closes a batch that an earlier owner has left open.
    const current = await this.store.catalog.read(list.id)
    if (current !== undefined) await this.counts.closeLeftOpen(current, record)
    const outcome = existing === undefined ? 'begun' : 'resumed'
    return { outcome, session, record: publicRecord(record, now) }
  }

  private async claim(
    list: StoredList,
    request: ImportRequest,
    record: StoredImport,
    existing: StoredImport | undefined,
  ): Promise<boolean> {
    const { client, tables, due, catalog } = this.store
    const steps: TransactionItem[] = [
      this.records.claim(record, existing),
      due.put({ kind: IMPORT, at: record.leaseUntil, parts: [list.id, request.importId] }),
    ]
    if (request.mode === 'replace') steps.push(beginStep(tables.allowlists, list, request.importId))
    const { applied } = await client.transactWrite(VERB, steps)
    if (applied && request.mode === 'replace') catalog.forget(list.id)
    return applied
  }

  /** What prevents a replace from beginning. What can be repaired is repaired. */
  private async clearTheWay(list: StoredList, now: number): Promise<BeginOutcome | 'again' | undefined> {
    if (list.moving !== undefined) {
      throw new CatracaError(
        'REPLACE_IN_PROGRESS',
        `the members of ${list.id} are being moved to other shards`,
      )
    }
    if (list.replacing !== undefined) {
      if (await this.records.isLive(list, list.replacing.importId, now)) return { outcome: 'replace-running' }
      await this.store.client.transactWrite(VERB, abandonSteps(this.store, list, now))
      this.store.catalog.forget(list.id)
      return 'again'
    }
    if (list.undoing === undefined) return undefined
    while ((await this.sweeps.undo(list.id)) === 'more');
    return 'again'
  }

  async add(...[session, run, from, to, advance, now]: Parameters<BulkStore['add']>): Promise<BatchOutcome> {
    const owned = await this.records.owned(session)
    if (typeof owned === 'string') return { outcome: owned }
    const { list } = owned
    const record = await this.counts.closeLeftOpen(list, owned.record)
    return new BatchOfAdds(this.parts, { session, record, run, from, to, now }).toEnd(list, advance)
  }

  async renew(...[session, checkpoint, now]: Parameters<BulkStore['renew']>): Promise<boolean> {
    const owned = await this.records.owned(session)
    if (typeof owned === 'string') return false
    if (checkpoint === undefined) return this.records.renew(session, now)
    return this.records.save(checkpointed(owned.record, checkpoint, session, now))
  }

  replace(...[session, runs, advance, now]: Parameters<BulkStore['replace']>): Promise<ReplaceOutcome> {
    return new Replacement(this.parts, session, advance, now).run(runs)
  }

  async finish(...[session, checkpoint, state, error, now]: Parameters<BulkStore['finish']>) {
    for (;;) {
      const owned = await this.records.owned(session)
      if (owned === 'list-not-found') return undefined
      if (owned === 'lost' || (await this.end(owned, session, checkpoint, state, error, now))) break
    }
    const list = await this.store.catalog.read(session.listId)
    if (list?.incarnation !== session.incarnation) return undefined
    if (layoutFor(this.sizes, list.customerCount).shardCount > list.shardCount) {
      await this.store.due.note([{ kind: MOVE, at: now, parts: [list.id] }])
    }
    // No log position proves that an index contains a whole import, so checks with this token read the table.
    const token = this.store.tokens.write(list, UNPROVABLE)
    return { customerCount: Math.max(0, list.customerCount), token }
  }

  private async end(
    { list, record }: { list: StoredList; record: StoredImport },
    session: ImportSession,
    checkpoint: ImportCheckpoint,
    state: ImportRecord['state'],
    error: string | undefined,
    now: number,
  ): Promise<boolean> {
    const settled = await this.counts.closeLeftOpen(list, record)
    const ended: StoredImport = { ...checkpointed(settled, checkpoint, session, now), state, leaseUntil: 0 }
    if (error !== undefined) ended.error = error
    const isReplacing = list.replacing?.importId === session.importId
    const steps = isReplacing ? abandonSteps(this.store, list, now) : []
    const { applied } = await this.store.client.transactWrite(VERB, [this.records.put(ended), ...steps])
    if (applied && isReplacing) this.store.catalog.forget(list.id)
    return applied
  }

  async status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined> {
    const list = await this.store.catalog.read(listId)
    const record = list && (await this.records.read(list, importId))
    return record && publicRecord(record, now)
  }

  async list(listId: string, limit: number, now: number): Promise<ImportRecord[]> {
    const list = await this.store.catalog.read(listId)
    const records = list === undefined ? [] : await this.records.list(list, MAX_LISTED_IMPORTS)
    return latest(records, limit).map((record) => publicRecord(record, now))
  }

  /** For upkeep: counts an import whose process died as far as it came, and abandons a replace. */
  async watch({ parts: [listId = '', importId = ''] }: DueTask, now: number): Promise<TaskResult> {
    const list = await this.store.catalog.read(listId)
    const record = list && (await this.records.read(list, importId))
    if (list === undefined || record === undefined) return 'done'
    if (record.state === 'running' && record.leaseUntil > now) return { again: record.leaseUntil }
    await this.counts.closeLeftOpen(list, record)
    if (list.replacing?.importId === importId) {
      await this.store.client.transactWrite(VERB, abandonSteps(this.store, list, now))
      this.store.catalog.forget(list.id)
    }
    return 'done'
  }
}
