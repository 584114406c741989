import { NOTHING_YET } from '../../../guards/allowlist/import/checkpoint.js'
import type {
  BatchOutcome,
  BeginOutcome,
  BulkStore,
  ImportCheckpoint,
  ImportRecord,
  ImportRequest,
  ImportSession,
  MemberAttributes,
  ReplaceCounts,
  ReplaceOutcome,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog, StoredList } from './catalog.js'
import { ImportRecords, publicRecord, type StoredImport } from './imports.js'
import type { Journal } from './journal.js'
import { attributesAt, FOREVER, isMember, newRow, type Row, sameAttributes } from './member-row-codec.js'
import { MemberRows, tally } from './member-rows.js'
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
    if (existing !== undefined) {
      if (existing.mode !== request.mode) return { outcome: 'other-mode' }
      if (existing.state === 'completed') {
        return { outcome: 'completed', session, record: publicRecord(existing, now) }
      }
      if (this.records.isLive(list.no, request.importId, now)) return { outcome: 'import-running' }
    }
    if (request.mode === 'replace') {
      const refused = this.beginReplace(request.listId, list, request.importId, now)
      if (refused !== undefined) return refused
    }
    const record = this.claim(list.no, request, existing, now)
    return {
      outcome: existing === undefined ? 'begun' : 'resumed',
      session,
      record: publicRecord(record, now),
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

  private claim(
    no: number,
    request: ImportRequest,
    existing: StoredImport | undefined,
    now: number,
  ): StoredImport {
    // A replace starts again from the beginning: nothing of an earlier attempt is reused.
    const kept = existing !== undefined && request.mode === 'add' ? existing : undefined
    const { listId, importId, mode, owner, leaseMs } = request
    const record: StoredImport = {
      ...(kept ?? NOTHING_YET),
      importId,
      listId,
      mode,
      state: 'running',
      startedAt: existing?.startedAt ?? now,
      updatedAt: now,
      owner,
      leaseUntil: now + leaseMs,
    }
    delete record.error
    this.records.store(no, record)
    return record
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

  async add(
    session: ImportSession,
    run: SortedCustomers,
    from: number,
    to: number,
    advance: (added: number, unchanged: number) => ImportCheckpoint,
    now: number,
  ): Promise<BatchOutcome> {
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
        const row = addedRow(list, previous, run.attributes(i), session.addedBy, now)
        if (row === undefined) continue
        if (!isMember(previous, list.generation, now)) added++
        this.rows.put(row, previous)
        this.journal.added(this.rows.key, row, list.generation)
        tally(counters, list, previous, row)
      }
      if (this.journal.commit(list.no, counters)) counters.updatedAt = now
      this.catalog.storeCounters(list.no, counters)
      const unchanged = to - from - added
      const checkpoint = advance(added, unchanged)
      this.records.store(list.no, checkpointed(record, checkpoint, session, now))
      return { outcome: 'stored', added, unchanged }
    })
  }

  async renew(
    session: ImportSession,
    checkpoint: ImportCheckpoint | undefined,
    now: number,
  ): Promise<boolean> {
    return this.environment.write(() => {
      const owned = this.records.owned(session)
      if (typeof owned === 'string') return false
      const { list, record } = owned
      this.records.store(list.no, checkpointed(record, checkpoint ?? record, session, now))
      return true
    })
  }

  replace(
    session: ImportSession,
    runs: AsyncIterable<SortedCustomers>,
    advance: (counts: ReplaceCounts) => ImportCheckpoint,
    now: () => number,
  ): Promise<ReplaceOutcome> {
    const { environment, catalog, records, journal } = this
    return new Replacement({ environment, catalog, records, journal }, session, advance, now).run(runs)
  }

  async finish(
    session: ImportSession,
    checkpoint: ImportCheckpoint,
    state: ImportRecord['state'],
    error: string | undefined,
    now: number,
  ): Promise<{ customerCount: number; token: string } | undefined> {
    return this.environment.write(() => {
      const owned = this.records.owned(session)
      if (owned === 'list-not-found') return undefined
      const list = this.catalog.read(session.listId)!
      if (owned !== 'lost') {
        const record: StoredImport = {
          ...checkpointed(owned.record, checkpoint, session, now),
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
    return record && publicRecord(record, now)
  }
}

/** The row that an import in `add` mode stores for a customer; undefined if nothing changes. */
function addedRow(
  list: StoredList,
  previous: Row | undefined,
  given: MemberAttributes | undefined,
  addedBy: string | undefined,
  now: number,
): Row | undefined {
  let row: Row
  if (isMember(previous, list.generation, now)) {
    if (given === undefined || sameAttributes(given, attributesAt(previous!, list.generation)))
      return keptRow(list, previous!)
    row = newRow(given, previous!.addedAt)
  } else {
    row = newRow(addedBy === undefined ? given : { addedBy, ...given }, now)
  }
  if (list.replacing) row.pin = list.replacing.generation
  return row
}

/** A member that does not change. But it is pinned, so that a running replace does not remove it. */
function keptRow(list: StoredList, row: Row): Row | undefined {
  const pin = list.replacing?.generation
  return pin === undefined || row.pin === pin ? undefined : { ...row, until: FOREVER, pin }
}

function checkpointed(
  record: StoredImport,
  checkpoint: ImportCheckpoint,
  session: ImportSession,
  now: number,
): StoredImport {
  const { run: _, ...kept } = record
  return { ...kept, ...checkpoint, updatedAt: now, leaseUntil: now + session.leaseMs }
}
