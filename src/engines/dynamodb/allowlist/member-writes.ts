import { CatracaError } from '../../../core/errors.js'
import type { Item } from '../client/attributes.js'
import type { Layout } from './items.js'
import { changeSteps, META_STEP, rowLocation } from './member-steps.js'
import type { StoredList } from './meta.js'
import { type Row, rowOf } from './rows.js'
import type { Store } from './store.js'

/** The new row, undefined to delete it, or 'as it is' for no change. */
type Decide = (list: StoredList, before: Row | undefined) => Row | undefined | 'as it is'

export interface Change {
  listId: string
  customerId: string
  decide: Decide
  /** When the members of the list were changed; absent if no caller requested the change. */
  now?: number
  /** The assumed row of the first attempt; absent: it is read. */
  assume?: { item: Item | undefined }
}

export interface Changed {
  /** The list with which the change was made; its counts may be old. */
  list: StoredList
  before: Row | undefined
  after: Row | undefined | 'as it is'
  /** Read after the change, because a transaction does not return it. Undefined if the list was deleted by then. */
  customerCount: number | undefined
}

interface PendingWrite {
  verb: string
  change: Change
  /** The row as last read. */
  known: { item: Item | undefined } | undefined
  resolve(changed: Changed | undefined): void
  reject(error: unknown): void
}

interface Decided {
  waiting: PendingWrite
  before: Row | undefined
  after: Row | undefined | 'as it is'
}

/** With two places each while a list is moved, and META, a transaction has at most 97 items. */
const MAX_GROUP = 48

/**
 * Changes members and the counts of their list in one transaction, if all of them are unchanged since the decision;
 * otherwise decides again. Pending changes of one list share a transaction: META is written once for all of them, and
 * changes of this process do not conflict.
 */
export class MemberWrites {
  private readonly queues = new Map<string, PendingWrite[]>()

  constructor(private readonly store: Store) {}

  /** Undefined if there is no such list. */
  change(verb: string, change: Change): Promise<Changed | undefined> {
    return new Promise((resolve, reject) => {
      const waiting: PendingWrite = { verb, change, known: change.assume, resolve, reject }
      const queue = this.queues.get(change.listId)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      this.queues.set(change.listId, [waiting])
      void this.run(change.listId)
    })
  }

  /** The authoritative row, read consistently. */
  readItem(verb: string, list: StoredList, customerId: string): Promise<Item | undefined> {
    const where = rowLocation(this.store.tables, list.id, list as Layout, customerId)
    return this.store.client.getItem(verb, { ...where, ConsistentRead: true })
  }

  private async run(listId: string): Promise<void> {
    const queue = this.queues.get(listId)!
    // Changes of the same event-loop turn are included.
    await Promise.resolve()
    while (queue.length > 0) {
      const group = takeGroup(queue)
      try {
        await this.apply(listId, group)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.queues.delete(listId)
  }

  private async apply(listId: string, group: PendingWrite[]): Promise<void> {
    const { catalog, settings, client } = this.store
    const endsAt = performance.now() + settings.writeTimeoutMs
    const verb = verbOf(group)
    let list = await catalog.recent(listId)
    while (list !== undefined) {
      const decided = await this.decide(list, group)
      const changes = decided.filter(({ after }) => after !== 'as it is')
      if (changes.length === 0) return this.answer(list, decided)
      const { steps, owners } = changeSteps(this.store.tables, list, changes.map(toStep))
      const result = await client.transactWrite(verb, steps)
      if (result.applied) return this.answer(list, decided)
      for (const { index, item } of result.refusals) {
        const owner = owners[index]
        if (owner !== undefined) changes[owner]!.waiting.known = { item }
      }
      const ofMeta = result.refusals.find(({ index }) => index === META_STEP)
      if (ofMeta !== undefined) {
        list = catalog.learned(listId, ofMeta.item)
        // In the new state of the list, the rows may be elsewhere.
        for (const waiting of group) waiting.known = undefined
      }
      if (performance.now() > endsAt) throw contended()
    }
    for (const { resolve } of group) resolve(undefined)
  }

  private decide(list: StoredList, group: PendingWrite[]): Promise<Decided[]> {
    return Promise.all(
      group.map(async (waiting) => {
        const { verb, change } = waiting
        waiting.known ??= { item: await this.readItem(verb, list, change.customerId) }
        const before = rowOf(waiting.known.item, list)
        return { waiting, before, after: change.decide(list, before) }
      }),
    )
  }

  private async answer(list: StoredList, decided: Decided[]): Promise<void> {
    const isAsked = decided.some(({ waiting }) => waiting.change.now !== undefined)
    const now = isAsked ? await this.store.catalog.read(list.id) : undefined
    const customerCount = now?.incarnation === list.incarnation ? Math.max(0, now.customerCount) : undefined
    for (const { waiting, before, after } of decided) waiting.resolve({ list, before, after, customerCount })
  }
}

/** The first pending changes, no customer twice: a transaction accepts no key twice. */
function takeGroup(queue: PendingWrite[]): PendingWrite[] {
  const customers = new Set<string>()
  const group: PendingWrite[] = []
  const rest: PendingWrite[] = []
  for (const waiting of queue.splice(0)) {
    const { customerId } = waiting.change
    if (group.length === MAX_GROUP || customers.has(customerId)) rest.push(waiting)
    else group.push(waiting)
    customers.add(customerId)
  }
  queue.push(...rest)
  return group
}

const toStep = ({ waiting, before, after }: Decided) => ({
  customerId: waiting.change.customerId,
  now: waiting.change.now,
  item: waiting.known!.item,
  before,
  after: after as Row | undefined,
})

function verbOf(group: PendingWrite[]): string {
  const [first, ...others] = group
  return others.every(({ verb }) => verb === first!.verb) ? first!.verb : 'allowlist.write'
}

function contended(): CatracaError {
  return new CatracaError(
    'ENGINE_UNAVAILABLE',
    'other callers keep changing this member or its list; try again',
  )
}
