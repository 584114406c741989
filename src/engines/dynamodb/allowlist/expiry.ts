import { inTurns } from '../client/in-turns.js'
import type { DueTask } from './due.js'
import { MemberWalk } from './member-walk.js'
import type { MemberWrites } from './member-writes.js'
import type { StoredList } from './meta.js'
import { attributesAt, type Row, rowOf } from './rows.js'
import type { Store } from './store.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.upkeep'
/** They are removed in one transaction, see member-writes.ts. */
const AT_ONCE = 48

/**
 * Removes expired members, each with its count. TTL would delete them too, some time later and without lowering the
 * count: then the sequencer does that.
 */
export class ExpirySweeps {
  private readonly members: MemberWalk

  constructor(
    private readonly store: Store,
    private readonly writes: MemberWrites,
  ) {
    this.members = new MemberWalk(store)
  }

  async one({ parts: [listId, customerId] }: DueTask, now: number): Promise<TaskResult> {
    if (listId !== undefined && customerId !== undefined) await this.expire(listId, customerId, now)
    return 'done'
  }

  /** Walks over the list, one batch per call. */
  async all({ parts: [listId = ''], at }: DueTask, now: number): Promise<TaskResult> {
    const list = await this.store.catalog.read(listId)
    if (list === undefined) return 'done'
    const isEnd = await this.members.step(list, `${list.incarnation} expired ${at}`, async (page) => {
      const expired = page.filter(({ item }) => hasExpired(list, rowOf(item, list), now))
      await inTurns(expired, AT_ONCE, ({ customerId }) => this.expire(listId, customerId, now))
    })
    return isEnd ? 'done' : 'more'
  }

  private async expire(listId: string, customerId: string, now: number): Promise<void> {
    await this.writes.change(VERB, {
      listId,
      customerId,
      decide: (list, row) => (hasExpired(list, row, now) ? undefined : 'as it is'),
    })
  }
}

function hasExpired({ generation }: StoredList, row: Row | undefined, now: number): boolean {
  // A running replace gave it other attributes. The sweep after the replace records their expiry again.
  if (row === undefined || (row.next !== undefined && row.next.from > generation)) return false
  const { expiresAt } = attributesAt(row, generation)
  return expiresAt !== undefined && expiresAt <= now
}
