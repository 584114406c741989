import { invalid } from '../../../core/errors.js'
import { addedRow, removedRow } from '../../../guards/allowlist/generation-changes.js'
import type {
  AddOutcome,
  MemberPage,
  MemberRecord,
  MemberStore,
  Membership,
  RemoveOutcome,
} from '../../../guards/allowlist/port.js'
import { expiryTasks } from './due.js'
import { shardPlace } from './items.js'
import { isIdentifier, MemberReads } from './member-reads.js'
import type { Changed, MemberWrites } from './member-writes.js'
import { Memberships } from './memberships.js'
import type { StoredList } from './meta.js'
import { isMember, type Row, rowOf, toMember, visible, written } from './rows.js'
import type { Store } from './store.js'
import { removalOf, UNPROVABLE } from './tokens.js'

/** A page reads at most this many rows, so that rows waiting to be swept cannot delay a caller. */
const MAX_SCANNED = 5000

export class DynamodbMembers implements MemberStore {
  readonly storesAuditEntries = false
  private readonly reads: MemberReads
  private readonly memberships: Memberships

  constructor(
    private readonly store: Store,
    private readonly writes: MemberWrites,
  ) {
    this.reads = new MemberReads(store)
    this.memberships = new Memberships(store)
  }

  async add(...[listId, customerId, attributes, now]: Parameters<MemberStore['add']>): Promise<AddOutcome> {
    const { expiresAt } = attributes
    if (expiresAt !== undefined) await this.store.due.note(expiryTasks(listId, [{ customerId, expiresAt }]))
    const isStill = (list: StoredList, row: Row | undefined) => isMember(row, list.generation, now)
    const changed = await this.writes.change('allowlist.add', {
      listId,
      customerId,
      now,
      assume: { item: undefined },
      decide: (list, before) => written(addedRow(list, before, attributes, now)),
    })
    if (changed === undefined) return { outcome: 'list-not-found' }
    const outcome = isStill(changed.list, changed.before) ? 'replaced' : 'added'
    return this.answer(outcome, changed, (changed.after as Row).changeId)
  }

  async remove(listId: string, customerId: string, now: number): Promise<RemoveOutcome> {
    const changed = await this.writes.change('allowlist.remove', {
      listId,
      customerId,
      now,
      decide: (list, before) => {
        const row = removedRow(list, before, now)
        return typeof row === 'object' ? written(row) : row
      },
    })
    if (changed === undefined) return { outcome: 'list-not-found' }
    const { list, before } = changed
    if (!visible(before, list.generation)) return this.answer('absent', changed, undefined)
    const removed = before?.changeId === undefined ? undefined : removalOf(before.changeId)
    return this.answer('removed', changed, removed)
  }

  private answer<Outcome extends string>(
    outcome: Outcome,
    { list, customerCount }: Changed,
    change: string | undefined,
  ): { outcome: Outcome; customerCount: number; token: string } | { outcome: 'list-not-found' } {
    if (customerCount === undefined) return { outcome: 'list-not-found' }
    return { outcome, customerCount, token: this.store.tokens.write(list, change ?? UNPROVABLE) }
  }

  async get(listId: string, customerId: string): Promise<MemberRecord | undefined> {
    const list = await this.store.catalog.read(listId)
    if (list === undefined) return undefined
    const row = rowOf(await this.writes.readItem('allowlist.member', list, customerId), list)
    return visible(row, list.generation) ? toMember(customerId, row!, list.generation) : undefined
  }

  /** `after` and `next` are `LAYOUT:SHARD:CUSTOMER`. */
  async page(
    ...[listId, after, limit, prefix]: Parameters<MemberStore['page']>
  ): Promise<MemberPage | undefined> {
    const list = await this.store.catalog.read(listId)
    if (list === undefined) return undefined
    const start = readPlace(list, after)
    const members: MemberRecord[] = []
    let scanned = 0
    for (let { shard } = start; shard < list.shardCount; shard++) {
      const place = shardPlace(list.id, list, shard)
      const behind = shard === start.shard ? start.customerId : undefined
      for await (const { customerId, item } of this.reads.rows('allowlist.members', place, {
        ...{ behind, pageSize: limit, prefix },
      })) {
        scanned++
        // Ids of another program may be invalid here: they cannot be checked, and a cursor cannot contain them.
        if (!isIdentifier(customerId)) continue
        const row = rowOf(item, list)
        if (visible(row, list.generation)) members.push(toMember(customerId, row!, list.generation))
        if (members.length === limit || scanned >= MAX_SCANNED) {
          return { members, next: `${list.layout}:${shard}:${customerId}` }
        }
      }
    }
    return { members }
  }

  listsOf(customerId: string, after: string | undefined, limit: number): Promise<Membership[]> {
    return this.memberships.of(customerId, after, limit)
  }
}

function readPlace(list: StoredList, after: string | undefined): { shard: number; customerId?: string } {
  if (after === undefined) return { shard: 0 }
  const [, layout, shard, customerId] = /^(\d{1,9}):(\d{1,6}):(.+)$/.exec(after) ?? []
  if (customerId === undefined) throw invalid('cursor', 'is not a nextCursor that a page returned')
  if (Number(layout) !== list.layout) {
    throw invalid('cursor', 'is older than the last move of the list to other shards: start again')
  }
  return { shard: Number(shard), customerId }
}
