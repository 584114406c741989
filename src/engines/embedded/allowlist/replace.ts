import { compareKeys } from '../../../guards/allowlist/customer-key.js'
import { replacedRow, type Wish } from '../../../guards/allowlist/generation-changes.js'
import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import type {
  ImportCheckpoint,
  ImportSession,
  ReplaceCounts,
  ReplaceOutcome,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import { DifferenceList } from './difference-list.js'
import type { ImportRecords } from './imports.js'
import type { Journal } from './journal.js'
import { listEnd, listStart } from './keys.js'
import { decodeRow, type Row, visible } from './member-row-codec.js'
import { MemberRows, tally } from './member-rows.js'
import type { Counters, StoredList } from './meta.js'
import { addSweep, dropSweep } from './sweeps.js'

/** Rows per write transaction: it holds the write lock for some milliseconds. */
const STEP = 5000

interface Transaction {
  list: StoredList
  counters: Counters
  generation: number
}

interface ReplaceParts {
  environment: Environment
  catalog: Catalog
  records: ImportRecords
  journal: Journal
}

/**
 * Builds the next generation of a list. It walks the members and the new customers side by side, both in key order.
 * It writes only differences, as generation windows on rows (generation-changes.ts), so that no reader sees them before the
 * switch.
 */
export class Replacement {
  private readonly rows: MemberRows
  private readonly differences = new DifferenceList()
  /** Members up to this key are done. */
  private position: Uint8Array
  private readonly counts: ReplaceCounts = { added: 0, unchanged: 0, removed: 0 }

  constructor(
    private readonly parts: ReplaceParts,
    private readonly session: ImportSession,
    private readonly advance: (counts: ReplaceCounts) => ImportCheckpoint,
    private readonly now: () => number,
  ) {
    this.rows = new MemberRows(parts.environment)
    this.position = listStart(session.incarnation)
  }

  async run(runs: AsyncIterable<SortedCustomers>): Promise<ReplaceOutcome> {
    try {
      for await (const run of runs) {
        let next = 0
        while (next < run.count) {
          next = this.transact((transaction) => this.step(transaction, run, next))
          await pause()
        }
      }
      while (this.transact((transaction) => this.dropRest(transaction))) await pause()
      this.transact((transaction) => this.switch(transaction))
      return { outcome: 'replaced', ...this.counts }
    } catch (error) {
      if (error instanceof ImportStopped) return { outcome: error.outcome }
      throw error
    }
  }

  private transact<T>(change: (transaction: Transaction) => T): T {
    return this.parts.environment.writeNow(() => {
      const owned = this.parts.records.owned(this.session)
      if (typeof owned === 'string') throw new ImportStopped(owned)
      const { list } = owned
      if (list.replacing?.importId !== this.session.importId) throw new ImportStopped('lost')
      const counters = this.parts.catalog.counters(list.no)
      const result = change({ list, counters, generation: list.replacing.generation })
      this.parts.catalog.storeCounters(list.no, counters)
      return result
    })
  }

  /** Processes customers of the run from `first` on, and the members between them. Returns where it stopped. */
  private step(transaction: Transaction, run: SortedCustomers, first: number): number {
    const end = Math.min(first + STEP, run.count)
    const { no } = transaction.list
    const until = keyBehind(no, run.bytes, run.start(end - 1), run.end(end - 1))
    const members = this.membersUntil(until)
    let next = first
    for (const { key, row } of members) {
      for (; next < end && before(run, next, key); next++) this.admit(transaction, run, next, undefined)
      if (next < end && same(run, next, key)) this.admit(transaction, run, next++, row)
      else this.drop(transaction, key, row)
    }
    if (members.length === STEP) {
      this.position = behind(members[STEP - 1]!.key)
      return next
    }
    for (; next < end; next++) this.admit(transaction, run, next, undefined)
    this.position = until
    return next
  }

  private membersUntil(end: Uint8Array): { key: Uint8Array; row: Row }[] {
    const range = this.parts.environment.members.getRange({ start: this.position, end, limit: STEP })
    return Array.from(range, ({ key, value }) => ({ key: key as Uint8Array, row: decodeRow(value) }))
  }

  /** The new list contains this customer. */
  private admit(transaction: Transaction, run: SortedCustomers, index: number, row: Row | undefined): void {
    const wish: Wish = { stays: true, given: run.attributes(index) }
    this.apply(transaction, run.bytes, run.start(index), run.end(index), row, wish)
  }

  /** The new list does not contain this member. */
  private drop(transaction: Transaction, key: Uint8Array, row: Row): void {
    this.apply(transaction, key, 4, key.length, row, { stays: false })
  }

  private apply(
    { list, counters }: Transaction,
    bytes: Uint8Array,
    start: number,
    end: number,
    before: Row | undefined,
    wish: Wish,
  ): void {
    const { count, row } = replacedRow(list, before, wish, this.session.addedBy, this.now())
    if (count !== undefined) this.counts[count]++
    if (row === undefined) return
    this.rows.key.ofBytes(list.no, bytes, start, end)
    this.rows.put(row, before)
    this.differences.add(bytes, start, end)
    tally(counters, list, before, row)
  }

  private dropRest(transaction: Transaction): boolean {
    const members = this.membersUntil(listEnd(this.session.incarnation))
    for (const { key, row } of members) this.drop(transaction, key, row)
    const last = members.at(-1)
    if (last !== undefined) this.position = behind(last.key)
    return members.length === STEP
  }

  /**
   * Writes the differences to the change log. Few differences are logged one by one, with their current state: a
   * caller may have changed a customer since the replace passed it. Many are logged as one reset.
   */
  private log(list: StoredList, counters: Counters, generation: number): void {
    if (this.differences.isOverfull) {
      this.parts.journal.reset(list.no, counters)
      return
    }
    this.parts.journal.begin()
    this.differences.forEach((bytes, start, end) => {
      const customer = this.rows.key.ofBytes(list.no, bytes, start, end)
      const row = this.rows.read()
      if (visible(row, generation)) this.parts.journal.added(customer, row!, generation)
      else this.parts.journal.removed(customer)
    })
    this.parts.journal.commit(list.no, counters)
  }

  private switch({ list, counters, generation }: Transaction): void {
    const { listId: id, importId } = this.session
    const now = this.now()
    dropSweep(this.parts.environment, { kind: 'watch', no: list.no, id, generation, importId })
    addSweep(this.parts.environment, { kind: 'generation', no: list.no, id, generation })
    const { replacing: _, ...switched } = list
    this.parts.catalog.store(id, { ...switched, generation })
    counters.customerCount = counters.pendingCount
    this.log(list, counters, generation)
    counters.updatedAt = now
    // Recorded in the transaction of the switch: after a crash, the import must not look unfinished.
    const record = this.parts.records.read(list.no, importId)!
    const checkpoint = this.advance(this.counts)
    this.parts.records.store(list.no, { ...record, ...checkpoint, state: 'completed', updatedAt: now })
  }
}

/** Lets other threads take the write lock. It is not fair: a thread that releases it would get it again at once. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

/** The smallest key after this one. */
function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

function keyBehind(list: number, bytes: Uint8Array, start: number, end: number): Uint8Array {
  const key = new Uint8Array(4 + end - start + 1)
  key.set(listStart(list))
  key.set(bytes.subarray(start, end), 4)
  return key
}

function before(run: SortedCustomers, index: number, key: Uint8Array): boolean {
  return compareKeys(run.bytes, run.start(index), run.end(index), key, 4, key.length) < 0
}

function same(run: SortedCustomers, index: number, key: Uint8Array): boolean {
  return compareKeys(run.bytes, run.start(index), run.end(index), key, 4, key.length) === 0
}
