import { importedRow } from '../../../guards/allowlist/generation-changes.js'
import {
  checkpointedRecord,
  claimedRecord,
  type LeasedImport,
  latest,
  notBegun,
  publicImport,
} from '../../../guards/allowlist/import/stored-import.js'
import {
  type BatchOutcome,
  type BeginOutcome,
  type BulkStore,
  type ImportRecord,
  type ImportRequest,
  type ImportSession,
  MAX_LISTED_IMPORTS,
  type ReplaceOutcome,
} from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { ImportRecords } from './imports.js'
import type { Journal } from './journal.js'
import { isMember } from './member-row-codec.js'
import { MemberRows, tally } from './member-rows.js'
import type { StoredList } from './meta.js'
import { Replacement } from './replace.js'
import type { Sweeper } from './sweeper.js'
import { addSweep, dropSweep, pendingSweeps } from './sweeps.js'

export class EmbeddedBulk implements BulkStore {
  private readonly records: ImportRecords
  private readonly rows: MemberRows

  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
    private readonly sweeper: Sweeper,
    private readonly journal: Journal,
  ) {
    this.records = new ImportRecords(environment, catalog)
    this.rows = new MemberRows(environment)
  }

  async begin(request: ImportRequest, now: number): Promise<BeginOutcome> {
    for (;;) {
      const outcome = await this.environment.write(() => this.tryBegin(request, now))
      if (outcome !== 'undo-first') return outcome
      await this.finishUndoing(request.listId)
    }
  }

  private tryBegin(request: ImportRequest, now: number): BeginOutcome | 'undo-first' {
    const list = this.catalog.read(request.listId)
    if (list === undefined) return { outcome: 'list-not-found' }
    const session: ImportSession = { ...request, incarnation: list.no }
    const existing = this.records.read(list.no, request.importId)
    const ended = notBegun(session, existing, now)
    if (ended !== undefined) return ended
    if (request.mode === 'replace') {
      const refused = this.beginReplace(request.listId, list, request.importId, now)
      if (refused !== undefined) return refused
    }
    const record = claimedRecord(request, existing, now)
    this.records.store(list.no, record)
    return {
      outcome: existing === undefined ? 'begun' : 'resumed',
      session,
      record: publicImport(record, now),
    }
  }

  private beginReplace(id: string, list: StoredList, importId: string, now: number) {
    if (list.replacing !== undefined) {
      if (this.records.isLive(list.no, list.replacing.importId, now))
        return { outcome: 'replace-running' } as const
      this.abandon(id, list)
    }
    if (this.undoing(list.no).length > 0) return 'undo-first' as const
    const generation = ++list.lastGeneration
    list.replacing = { generation, importId }
    this.catalog.store(id, list)
    addSweep(this.environment, { kind: 'watch', no: list.no, id, generation, importId })
    const counters = this.catalog.counters(list.no)
    counters.pendingCount = counters.customerCount
    this.catalog.storeCounters(list.no, counters)
    return undefined
  }

  /** In a write transaction: abandons a replace that did not switch. A sweep undoes its rows. */
  private abandon(id: string, list: StoredList): void {
    const { generation, importId } = list.replacing!
    delete list.replacing
    this.catalog.store(id, list)
    dropSweep(this.environment, { kind: 'watch', no: list.no, id, generation, importId })
    addSweep(this.environment, { kind: 'undo', no: list.no, id, generation })
  }

  private undoing(no: number) {
    return pendingSweeps(this.environment, 1000).filter((sweep) => sweep.kind === 'undo' && sweep.no === no)
  }

  private async finishUndoing(listId: string): Promise<void> {
    const list = this.catalog.read(listId)
    if (list === undefined) return
    for (const sweep of this.undoing(list.no)) {
      while (!(await this.sweeper.step(sweep)));
    }
  }

  async add(...[session, run, from, to, advance, now]: Parameters<BulkStore['add']>): Promise<BatchOutcome> {
    return this.environment.writeNow((): BatchOutcome => {
      const owned = this.records.owned(session)
      if (typeof owned === 'string') return { outcome: owned }
      const { list, record } = owned
      const counters = this.catalog.counters(list.no)
      this.journal.begin()
      let added = 0
      for (let i = from; i < to; i++) {
        this.rows.key.ofBytes(list.no, run.bytes, run.start(i), run.end(i))
        const previous = this.rows.read()
        const row = importedRow(list, previous, run.attributes(i), session.addedBy, now)
        if (row === 'as it is') continue
        if (!isMember(previous, list.generation, now)) added++
        this.rows.put(row, previous)
        this.journal.added(this.rows.key, row, list.generation)
        tally(counters, list, previous, row)
      }
      if (this.journal.commit(list.no, counters)) counters.updatedAt = now
      this.catalog.storeCounters(list.no, counters)
      const unchanged = to - from - added
      const checkpoint = advance(added, unchanged)
      this.records.store(list.no, checkpointedRecord(record, checkpoint, session, now))
      return { outcome: 'stored', added, unchanged }
    })
  }

  async renew(...[session, checkpoint, now]: Parameters<BulkStore['renew']>): Promise<boolean> {
    return this.environment.write(() => {
      const owned = this.records.owned(session)
      if (typeof owned === 'string') return false
      const { list, record } = owned
      this.records.store(list.no, checkpointedRecord(record, checkpoint ?? record, session, now))
      return true
    })
  }

  replace(...[session, runs, advance, now]: Parameters<BulkStore['replace']>): Promise<ReplaceOutcome> {
    const { environment, catalog, records, journal } = this
    return new Replacement({ environment, catalog, records, journal }, session, advance, now).run(runs)
  }

  async finish(...[session, checkpoint, state, error, now]: Parameters<BulkStore['finish']>) {
    return this.environment.write(() => {
      const owned = this.records.owned(session)
      if (owned === 'list-not-found') return undefined
      const list = this.catalog.read(session.listId)!
      if (owned !== 'lost') {
        const record: LeasedImport = {
          ...checkpointedRecord(owned.record, checkpoint, session, now),
          state,
          leaseUntil: 0,
        }
        if (error !== undefined) record.error = error
        this.records.store(list.no, record)
        if (list.replacing?.importId === session.importId) this.abandon(session.listId, list)
      }
      const { customerCount, sequence } = this.catalog.counters(list.no)
      return { customerCount, token: this.catalog.token(list.no, sequence) }
    })
  }

  async status(listId: string, importId: string, now: number): Promise<ImportRecord | undefined> {
    this.environment.refresh()
    const list = this.catalog.read(listId)
    const record = list && this.records.read(list.no, importId)
    return record && publicImport(record, now)
  }

  async list(listId: string, limit: number, now: number): Promise<ImportRecord[]> {
    this.environment.refresh()
    const list = this.catalog.read(listId)
    const records = list === undefined ? [] : this.records.list(list.no, MAX_LISTED_IMPORTS)
    return latest(records, limit).map((record) => publicImport(record, now))
  }
}
