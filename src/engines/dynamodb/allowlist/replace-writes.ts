import { chunksOf } from '../../../core/chunks.js'
import { CatracaError } from '../../../core/errors.js'
import {
  countSteps,
  type ReplaceDecision,
  replacedRow,
  type Wish,
} from '../../../guards/allowlist/generation-changes.js'
import type { ImportSession, ReplaceCounts } from '../../../guards/allowlist/port.js'
import type { Item } from '../client/attributes.js'
import type { PutInput } from '../client/client.js'
import { inTurns } from '../client/in-turns.js'
import { readItems } from './bulk-changes.js'
import { expiryTasks } from './due.js'
import type { ImportLease } from './import-lease.js'
import { placeOf } from './items.js'
import type { StoredList } from './meta.js'
import { encodeRow, type Row, rowOf, unchangedRow, written } from './rows.js'
import type { Store } from './store.js'

const VERB = 'allowlist.import'
const INSERTED_AT_ONCE = 25
const REQUESTS_AT_ONCE = 8
const PUTS_AT_ONCE = 32

type DesiredRow = Wish & { customerId: string }

interface Judged {
  wish: DesiredRow
  item: Item | undefined
  verdict: ReplaceDecision<Row> & {
    row: Row | undefined
    /** Change of the next generation's member count. */
    step: number
  }
}

/** The writes of one step of a replace. Each row has the condition that it is unchanged since it was evaluated. */
export class ReplaceWrites {
  private readonly counts: ReplaceCounts = { added: 0, unchanged: 0, removed: 0 }
  private difference = 0
  private readonly customers: string[] = []
  private readonly due: Judged[] = []

  constructor(
    private readonly store: Store,
    private readonly list: StoredList,
    private readonly session: ImportSession,
    private readonly lease: ImportLease,
    private readonly now: () => number,
  ) {}

  async push(item: Item | undefined, wish: DesiredRow): Promise<void> {
    const verdict = this.judge(item, wish)
    if (verdict.row === undefined) this.count(wish, verdict)
    else this.due.push({ wish, item, verdict })
  }

  /** Writes them, and returns the results. */
  async end(): Promise<{ counts: ReplaceCounts; difference: number; customers: string[] }> {
    const expiring = this.due.flatMap(({ wish }) => {
      const expiresAt = wish.stays ? wish.given?.expiresAt : undefined
      return expiresAt === undefined ? [] : [{ customerId: wish.customerId, expiresAt }]
    })
    await this.store.due.note(expiryTasks(this.list.id, expiring))
    const fresh = this.due.filter(({ item }) => item === undefined)
    const others = this.due.filter(({ item }) => item !== undefined)
    await inTurns(chunksOf(fresh, INSERTED_AT_ONCE), REQUESTS_AT_ONCE, async (chunk) => {
      others.push(...(await this.insert(chunk)))
    })
    await inTurns(others, PUTS_AT_ONCE, (one) => this.put(one))
    return { counts: this.counts, difference: this.difference, customers: this.customers }
  }

  private judge(item: Item | undefined, wish: DesiredRow): Judged['verdict'] {
    const before = rowOf(item, this.list)
    const { count, row } = replacedRow(this.list, before, wish, this.session.addedBy, this.now())
    if (row === undefined) return { count, row, step: 0 }
    return { count, row: written(row), step: countSteps(this.list, before, row).pendingCount }
  }

  private count({ customerId }: DesiredRow, { count, step, row }: Judged['verdict']): void {
    if (count !== undefined) this.counts[count]++
    this.difference += step
    if (row !== undefined) this.customers.push(customerId)
  }

  /** Returns those that have a row after all, evaluated with it. */
  private async insert(chunk: Judged[]): Promise<Judged[]> {
    const items = chunk.map(({ wish, verdict }) => this.encode(wish, verdict.row!))
    const table = this.store.tables[placeOf(this.list.id, this.list, chunk[0]!.wish.customerId).table]
    const { value: ends, repeated } = await this.lease.within((timeoutMs) =>
      this.store.client.insertItems(VERB, table, items, { timeoutMs }),
    )
    const refused = chunk.filter((_, i) => !ends[i]!.inserted)
    chunk.forEach(({ wish, verdict }, i) => {
      if (ends[i]!.inserted) this.count(wish, verdict)
    })
    const ids = refused.map(({ wish }) => wish.customerId)
    const found = await readItems(this.store, this.list, ids)
    return refused.flatMap((one) => {
      const item = found.get(one.wish.customerId)
      const { maybeOwn } = ends[chunk.indexOf(one)]!
      return this.refused(one, item, maybeOwn || repeated)
    })
  }

  private async put({ wish, item, verdict }: Judged): Promise<void> {
    let due: Judged | undefined = { wish, item, verdict }
    while (due !== undefined) {
      const input: PutInput = {
        TableName: this.store.tables[placeOf(this.list.id, this.list, wish.customerId).table],
        Item: this.encode(wish, due.verdict.row!),
        ...unchangedRow(due.item),
      }
      const { value: result, repeated } = await this.lease.within((timeoutMs) =>
        this.store.client.putItem(VERB, input, { timeoutMs }),
      )
      if (result.applied) return this.count(wish, due.verdict)
      due = this.refused(due, result.item, result.maybeOwn || repeated)[0]
    }
  }

  /** Evaluates the row again, unless its own write was already stored, or nothing needs to be written any more. */
  private refused(one: Judged, item: Item | undefined, maybeOwn: boolean): Judged[] {
    const { wish, verdict } = one
    if (item !== undefined && item.changeId?.S === verdict.row!.changeId) {
      this.count(wish, verdict)
      return []
    }
    // Another writer may have overwritten this write, or the row before it: the counts would differ.
    if (maybeOwn)
      throw new CatracaError('UNKNOWN_OUTCOME', 'a member was changed while its row was being written')
    const again = this.judge(item, wish)
    if (again.row !== undefined) return [{ wish, item, verdict: again }]
    this.count(wish, again)
    return []
  }

  private encode({ customerId }: DesiredRow, row: Row): Item {
    const { partition } = placeOf(this.list.id, this.list, customerId)
    return encodeRow({ listId: this.list.id, partition, customerId }, row)
  }
}
