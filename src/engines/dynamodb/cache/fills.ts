import { randomUUID } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import type { FillClaim, FilledItem, FillStart, StoreOutcome } from '../../../guards/cache/port.js'
import { type Item, number, optionalNumber, optionalText, text } from '../client/attributes.js'
import type { WriteResult } from '../client/calls.js'
import { all, Expression } from '../client/expression.js'
import { entryAttributes, LEASE_ATTRIBUTES, readEntry, readLease } from './entry-items.js'
import { entryKey } from './keys.js'
import type { Marks } from './marks.js'
import { type CacheTable, ttlOf } from './table.js'

/** A lease may be renewed for this long, and TTL must not delete its item meanwhile. */
const LONGEST_LOAD_MS = 86_400_000
/** More conflicts on one key mean that something is wrong. */
const MOST_ATTEMPTS = 20

/** Leases of fills, each in the item of its key, so that removing or replacing the item ends its lease. */
export class Fills {
  constructor(private readonly guards: CacheTable) {}

  /** Uses the item as it was read; if it has changed since, the current one. */
  async begin(
    space: string,
    key: string,
    read: { item: Item | undefined; marks: Marks },
    claim: FillClaim,
    now: number,
  ): Promise<FillStart> {
    let { item } = read
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const start = this.judge(item, read.marks, claim, now)
      if (start !== undefined) return start
      const result = await this.lease(space, key, item, read.marks.version, claim, now)
      if (result.applied) return { state: 'filling' }
      item = result.item
    }
    throw new CatracaError('ENGINE_UNAVAILABLE', 'other callers kept changing the same entry')
  }

  private judge(
    item: Item | undefined,
    marks: Marks,
    { token, freshAboveMs, takeOver }: FillClaim,
    now: number,
  ): FillStart | undefined {
    if (takeOver) return undefined
    const entry = readEntry(item, marks, now)
    if (entry !== undefined && entry.leftMs > freshAboveMs) return { state: 'found', entry }
    const lease = readLease(item)
    if (lease === undefined || lease.until <= now || lease.token === token) return undefined
    if (lease.version < marks.least([])) return undefined
    return { state: 'held', leftMs: lease.until - now }
  }

  private lease(
    space: string,
    key: string,
    item: Item | undefined,
    version: number,
    { token, leaseMs, takeOver }: FillClaim,
    now: number,
  ): Promise<WriteResult> {
    const ttl = Math.max(ttlOf(now + leaseMs + LONGEST_LOAD_MS), (item && optionalNumber(item, 'ttl')) ?? 0)
    const lease = { fill: text(token), fillUntil: number(now + leaseMs), fillVersion: number(version) }
    const words = new Expression().set({ ...lease, ttl: number(ttl) })
    // Condition: no other lease or entry was written since the item was read.
    if (!takeOver) words.when(words.equals('stamp', item?.stamp), words.equals('fill', item?.fill))
    return this.update('cache.begin', space, key, words)
  }

  async store(space: string, fill: FilledItem, marks: Marks, now: number): Promise<StoreOutcome> {
    const words = new Expression()
    const version = words.name('fillVersion')
    words
      .set(entryAttributes(fill, fill.token, now))
      .setTo('version', version)
      .remove(...LEASE_ATTRIBUTES)
      .when(
        this.isOwn(words, fill.token, now),
        `${version} >= ${words.value(number(marks.least(fill.tags)))}`,
      )
    const result = await this.update('cache.store', space, fill.key, words)
    if (result.applied) return 'stored'
    const { item = {}, maybeOwn } = result
    // The response to an earlier attempt may have been lost.
    if (maybeOwn && optionalText(item, 'stamp') === fill.token) return 'stored'
    // Its space or a tag was removed: other fills may begin at once.
    if (optionalText(item, 'fill') === fill.token) await this.release(space, fill.key, fill.token)
    return 'void'
  }

  async renew(space: string, key: string, lease: { token: string; leaseMs: number }, now: number) {
    const words = new Expression().set({ fillUntil: number(now + lease.leaseMs) })
    words.when(this.isOwn(words, lease.token, now))
    return (await this.update('cache.renew', space, key, words)).applied
  }

  async release(space: string, key: string, token: string): Promise<void> {
    const words = new Expression().remove(...LEASE_ATTRIBUTES)
    await this.update('cache.release', space, key, words.when(words.equals('fill', text(token))))
  }

  /** Ends the lease, and limits the life of the entry. The new stamp prevents a lease based on an older read. */
  async endBy(space: string, key: string, until: number): Promise<void> {
    const words = new Expression().set({ goneAt: number(until), stamp: text(randomUUID()) })
    words.remove(...LEASE_ATTRIBUTES).when(`${words.name('goneAt')} > ${words.value(number(until))}`)
    const result = await this.update('cache.expire', space, key, words)
    if (result.applied || result.item === undefined) return
    const only = new Expression().remove(...LEASE_ATTRIBUTES)
    await this.update('cache.expire', space, key, only.when(only.exists('fill')))
  }

  private isOwn(words: Expression, token: string, now: number): string {
    const isToken = words.equals('fill', text(token))
    return all(isToken, `${words.name('fillUntil')} > ${words.value(number(now))}`)
  }

  private update(verb: string, space: string, key: string, words: Expression): Promise<WriteResult> {
    const { client, table: TableName } = this.guards
    const input = { TableName, Key: entryKey(space, key), ...words.update() }
    return client.updateItem(verb, input, { repeatable: true })
  }
}
