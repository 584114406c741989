import type { DueTask } from './due.js'
import { shardPlace } from './items.js'
import { MemberReads } from './member-reads.js'
import type { MemberWrites } from './member-writes.js'
import type { StoredList } from './meta.js'
import { attributesAt, type Row, rowOf } from './rows.js'
import type { Store } from './store.js'
import { inTurns, type TaskResult } from './upkeep.js'

const VERB = 'allowlist.upkeep'
const PAGE = 500
const PAGES_PER_STEP = 10
/** They are removed in one transaction, see member-writes.ts. */
const AT_ONCE = 48

/**
 * Removes expired members, each with its count. TTL would delete them too, some time later and without lowering the
 * count: then the sequencer does that.
 */
export class ExpirySweeps {
  private readonly reads: MemberReads
  /** How far each walk over a list has come. After a restart it begins again. */
  private readonly positions = new Map<string, { shard: number; behind: string | undefined }>()

  constructor(
    private readonly store: Store,
    private readonly writes: MemberWrites,
  ) {
    this.reads = new MemberReads(store)
  }

  async one({ parts: [listId, customerId] }: DueTask, now: number): Promise<TaskResult> {
    if (listId !== undefined && customerId !== undefined) await this.expire(listId, customerId, now)
    return 'done'
  }

  /** Walks over the list, one batch per call. */
  async all({ parts: [listId = ''], at }: DueTask, now: number): Promise<TaskResult> {
    const list = await this.store.catalog.read(listId)
    const name = `${at}#${listId}`
    const position = this.positions.get(name) ?? { shard: 0, behind: undefined }
    if (list === undefined || position.shard >= list.shardCount) {
      this.positions.delete(name)
      return 'done'
    }
    const behind = await this.stretch(list, position, now)
    this.positions.set(
      name,
      behind === undefined
        ? { shard: position.shard + 1, behind: undefined }
        : { shard: position.shard, behind },
    )
    return 'more'
  }

  /** The last customer; undefined at the end of the shard. */
  private async stretch(
    list: StoredList,
    { shard, behind }: { shard: number; behind: string | undefined },
    now: number,
  ): Promise<string | undefined> {
    let pages = 0
    const place = shardPlace(list.id, list, shard)
    for await (const page of this.reads.pages(VERB, place, { behind, pageSize: PAGE })) {
      const expired = page.filter(({ item }) => hasExpired(list, rowOf(item, list), now))
      await inTurns(expired, AT_ONCE, ({ customerId }) => this.expire(list.id, customerId, now))
      if (++pages === PAGES_PER_STEP && page.length > 0) return page.at(-1)!.customerId
    }
    return undefined
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
