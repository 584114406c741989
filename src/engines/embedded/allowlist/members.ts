import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { addedRow, removedRow } from '../../../guards/allowlist/generation-changes.js'
import type {
  AddOutcome,
  MemberPage,
  MemberRecord,
  MemberStore,
  Membership,
  RemoveOutcome,
} from '../../../guards/allowlist/port.js'
import { readable } from '../../../guards/allowlist/unreadable.js'
import type { PreparedEntry } from '../../../guards/audit/port.js'
import type { EmbeddedAudit } from '../audit/store.js'
import type { Environment } from '../lmdb/environment.js'
import type { Catalog } from './catalog.js'
import type { Journal } from './journal.js'
import { CustomerRef, listBounds, memberKey, prefixBounds, readNumber, reverseBounds } from './keys.js'
import { decodeRow, isMember, type Row, toMember, visible } from './member-row-codec.js'
import { MemberRows, tally } from './member-rows.js'
import type { StoredList } from './meta.js'

/** A page reads at most this many rows, so that rows waiting to be swept cannot block the thread for long. */
const MAX_SCANNED = 5000

export class EmbeddedMembers implements MemberStore {
  readonly storesAuditEntries = true
  private readonly rows: MemberRows
  private readonly key = new CustomerRef()

  constructor(
    private readonly environment: Environment,
    private readonly catalog: Catalog,
    private readonly journal: Journal,
    private readonly audit: EmbeddedAudit,
  ) {
    this.rows = new MemberRows(environment)
  }

  add(...[listId, customerId, attributes, now, note]: Parameters<MemberStore['add']>): Promise<AddOutcome> {
    return this.environment.write((): AddOutcome => {
      const list = this.catalog.read(listId)
      if (list === undefined) return { outcome: 'list-not-found' }
      this.rows.key.of(list.no, customerId)
      const previous = this.rows.read()
      const member = isMember(previous, list.generation, now)
      const row = addedRow(list, previous, attributes, now)
      this.rows.put(row, previous)
      this.journal.begin()
      this.journal.added(this.rows.key, row, list.generation)
      const outcome = member ? 'replaced' : 'added'
      this.audit.store(note, outcome)
      return { outcome, ...this.changed(list, previous, row, now) }
    })
  }

  remove(listId: string, customerId: string, now: number, note?: PreparedEntry): Promise<RemoveOutcome> {
    return this.environment.free((): RemoveOutcome => {
      const list = this.catalog.read(listId)
      if (list === undefined) return { outcome: 'list-not-found' }
      this.rows.key.of(list.no, customerId)
      const previous = this.rows.read()
      const outcome = visible(previous, list.generation) ? 'removed' : 'absent'
      this.audit.store(note, outcome)
      const row = removedRow(list, previous, now)
      if (row === 'as it is') {
        const { customerCount, sequence } = this.catalog.counters(list.no)
        return { outcome, customerCount, token: this.catalog.token(list.no, sequence) }
      }
      if (row === undefined) this.rows.remove(previous!)
      else this.rows.put(row, previous)
      this.journal.begin()
      this.journal.removed(this.rows.key)
      return { outcome, ...this.changed(list, previous, row, now) }
    })
  }

  private changed(list: StoredList, before: Row | undefined, after: Row | undefined, now: number) {
    const counters = this.catalog.counters(list.no)
    tally(counters, list, before, after)
    this.journal.commit(list.no, counters)
    counters.updatedAt = now
    this.catalog.storeCounters(list.no, counters)
    return { customerCount: counters.customerCount, token: this.catalog.token(list.no, counters.sequence) }
  }

  async get(listId: string, customerId: string): Promise<MemberRecord | undefined> {
    this.environment.refresh()
    const list = this.catalog.read(listId)
    if (list === undefined) return undefined
    const row = this.visibleRow(list, customerId)
    return row && toMember(customerId, row, list.generation)
  }

  private visibleRow(list: StoredList, customerId: string): Row | undefined {
    const bytes = this.environment.members.getBinaryFast(this.key.of(list.no, customerId))
    const row = bytes && decodeRow(bytes)
    return visible(row, list.generation) ? row : undefined
  }

  async page(
    ...[listId, after, limit, prefix]: Parameters<MemberStore['page']>
  ): Promise<MemberPage | undefined> {
    this.environment.refresh()
    const list = this.catalog.read(listId)
    if (list === undefined) return undefined
    const behind = after === undefined ? undefined : memberKey(list.no, after)
    const members: MemberRecord[] = []
    let scanned = 0
    for (const range of prefix === undefined ? [listBounds(list.no)] : prefixBounds(list.no, prefix)) {
      const isFurther = behind !== undefined && Buffer.compare(behind, range.start) > 0
      const start = isFurther ? behind : range.start
      for (const { key, value } of this.environment.members.getRange({ start, end: range.end })) {
        const customerId = readCustomerKey(key, 4, key.length)
        if (customerId === after) continue
        const row = decodeRow(value)
        if (visible(row, list.generation)) members.push(toMember(customerId, row, list.generation))
        if (members.length === limit || ++scanned === MAX_SCANNED) return { members, next: customerId }
      }
    }
    return { members }
  }

  async listsOf(customerId: string, after: string | undefined, limit: number): Promise<Membership[]> {
    this.environment.refresh()
    const { start, end, prefix } = reverseBounds(customerId)
    const memberships: Membership[] = []
    for (const key of this.environment.reverse.getKeys({ start, end })) {
      const [found] = readable([() => this.catalog.readNumber(readNumber(key, prefix))])
      if (found === undefined || (after !== undefined && found.id <= after)) continue
      const row = this.visibleRow(found.stored, customerId)
      if (row === undefined) continue
      const member = toMember(customerId, row, found.stored.generation)
      memberships.push({ list: this.catalog.record(found.id, found.stored), member })
    }
    return memberships.sort((a, b) => (a.list.id < b.list.id ? -1 : 1)).slice(0, limit)
  }
}
