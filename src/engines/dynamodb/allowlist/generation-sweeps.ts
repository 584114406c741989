import { afterSwitch, afterUndo, type Change } from '../../../guards/allowlist/generation-changes.js'
import type { Item } from '../client/attributes.js'
import type { WriteResult } from '../client/calls.js'
import type { Condition } from '../client/expression.js'
import { inTurns } from '../client/in-turns.js'
import { type DueTask, expiryTasks } from './due.js'
import { differencesKey, type Place } from './items.js'
import type { FoundRow } from './member-reads.js'
import { rowKey } from './member-steps.js'
import { MemberWalk } from './member-walk.js'
import type { StoredList } from './meta.js'
import { undoneStep } from './replace-states.js'
import { decodeRow, encodeRow, type Row, unchangedRow } from './rows.js'
import type { Store } from './store.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.upkeep'
const AT_ONCE = 16
const AFTER_MOVE_MS = 60_000

/** The change id stays, because no visible value changes. */
type Mend = (row: Row) => Change<Row>

/** Cleans up after replaces. No count changes, because no row that a generation sees is changed. */
export class GenerationSweeps {
  private readonly members: MemberWalk

  constructor(private readonly store: Store) {
    this.members = new MemberWalk(store)
  }

  /** For upkeep: after a switch. */
  async swept({ parts: [listId = '', text = ''] }: DueTask, now: number): Promise<TaskResult> {
    const list = await this.store.catalog.read(listId)
    const generation = Number(text)
    if (list === undefined || list.generation < generation) return 'done'
    // A copy that is being made would miss the change.
    if (list.moving !== undefined) return { again: now + AFTER_MOVE_MS }
    const name = `${list.incarnation} ${generation}`
    if (!(await this.walk(list, name, (row) => afterSwitch(row, generation)))) return 'more'
    const Key = differencesKey(listId, generation)
    await this.store.client.deleteItem(VERB, { TableName: this.store.tables.allowlists, Key })
    return 'done'
  }

  /** For upkeep, and for callers that wait for it: after a replace was abandoned. */
  async undo(listId: string): Promise<'done' | 'more'> {
    const list = await this.store.catalog.read(listId)
    const generation = list?.undoing
    if (list === undefined || generation === undefined) return 'done'
    const name = `${list.incarnation} undo ${generation}`
    if (!(await this.walk(list, name, (row) => afterUndo(row, generation)))) return 'more'
    await this.store.client.transactWrite(VERB, [undoneStep(this.store.tables.allowlists, list)])
    this.store.catalog.forget(listId)
    return 'done'
  }

  /** Processes the next batch of a list; true at its end. */
  private walk(list: StoredList, name: string, mend: Mend): Promise<boolean> {
    return this.members.step(list, name, (page, place) => this.mendPage(list, place, page, mend))
  }

  private async mendPage(list: StoredList, place: Place, page: FoundRow[], mend: Mend): Promise<void> {
    const touched = page.filter(({ item }) => mend(decodeRow(item)) !== 'as it is')
    // Their expiry may have been skipped while they had attributes for two generations.
    const expiring = touched.flatMap(({ customerId, item }) => {
      const after = mend(decodeRow(item)) as Row | undefined
      return after?.expiresAt === undefined ? [] : [{ customerId, expiresAt: after.expiresAt }]
    })
    await this.store.due.note(expiryTasks(list.id, expiring))
    await inTurns(touched, AT_ONCE, ({ customerId, item }) => this.mend(list, place, customerId, item, mend))
  }

  /** A concurrent writer replaces the whole row, so there may be nothing left to repair. */
  private async mend(
    list: StoredList,
    place: Place,
    customerId: string,
    first: Item,
    mend: Mend,
  ): Promise<void> {
    const { client, tables } = this.store
    let item: Item | undefined = first
    while (item !== undefined) {
      const after = mend(decodeRow(item))
      if (after === 'as it is') return
      const guard: Condition & { TableName: string } = {
        TableName: tables[place.table],
        ...unchangedRow(item),
      }
      const result: WriteResult =
        after === undefined
          ? await client.deleteItem(VERB, { ...guard, Key: rowKey(place, customerId) })
          : await client.putItem(VERB, {
              ...guard,
              Item: encodeRow({ listId: list.id, partition: place.partition, customerId }, after),
            })
      if (result.applied) return
      item = result.item
    }
  }
}
