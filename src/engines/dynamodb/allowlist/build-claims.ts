import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { type Item, number, numberOf, text, textOf } from '../client/attributes.js'
import { all, Expression, when } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { buildKey, metaKey } from './items.js'
import { ownedBy, type StoredList, sameList } from './meta.js'
import type { Store } from './store.js'

const VERB = 'allowlist.index'
/** Upkeep task of a build whose process may die; the part is the list. */
export const BUILD = 'BUILD'

export interface Claim {
  owner: string
  until: number
  incarnation: number
}

/** The leases of index builds. */
export class BuildClaims {
  constructor(private readonly store: Store) {}

  async take(list: ListRef, owner: string, until: number, now: number): Promise<boolean> {
    const stored = await this.stored(list)
    if (stored === undefined) return false
    const isFree = when((expression) =>
      [
        expression.absent('PK'),
        `${expression.name('until')} <= ${expression.value(number(now))}`,
        `${expression.name('incarnation')} <> ${expression.value(number(list.incarnation))}`,
      ].join(' OR '),
    )
    const Item = {
      ...buildKey(list.id),
      owner: text(owner),
      until: number(until),
      incarnation: number(list.incarnation),
    }
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.isThere(stored),
      { Put: { ...this.table, Item, ...isFree } },
      this.store.due.put({ kind: BUILD, at: until, parts: [list.id] }),
    ])
    return applied
  }

  async renew(list: ListRef, owner: string, until: number): Promise<boolean> {
    const stored = await this.stored(list)
    if (stored === undefined) return false
    const expression = new Expression().set({ until: number(until) })
    expression.when(ownedBy(expression, { ...list, owner }))
    const Update = { ...this.table, Key: buildKey(list.id), ...expression.update() }
    return (await this.store.client.transactWrite(VERB, [this.isThere(stored), { Update }])).applied
  }

  /** Whether the owner still is the builder, and the list still exists. */
  async isHeld(list: ListRef, owner: string): Promise<boolean> {
    const [stored, claim] = await Promise.all([this.store.catalog.read(list.id), this.read(list.id)])
    const { incarnation } = list
    return stored?.incarnation === incarnation && claim?.owner === owner && claim.incarnation === incarnation
  }

  async read(listId: string): Promise<Claim | undefined> {
    const item = await this.store.client.readItem(VERB, this.table.TableName, buildKey(listId))
    return item && readClaim(item)
  }

  /** False: another claim has replaced this one. */
  async end(list: ListRef, { owner, until }: Claim): Promise<boolean> {
    const isSame = when((expression) =>
      all(ownedBy(expression, { ...list, owner }), expression.equals('until', number(until))),
    )
    const input = { ...this.table, Key: buildKey(list.id), ...isSame }
    const result = await this.store.client.deleteItem(VERB, input)
    return result.applied || (result.maybeOwn && result.item === undefined)
  }

  endStep(list: ListRef, owner: string): TransactionItem {
    const isOwn = when((expression) => ownedBy(expression, { ...list, owner }))
    return { Delete: { ...this.table, Key: buildKey(list.id), ...isOwn } }
  }

  async stored(list: ListRef): Promise<StoredList | undefined> {
    const stored = await this.store.catalog.recent(list.id)
    return stored?.incarnation === list.incarnation ? stored : undefined
  }

  private isThere(list: StoredList): TransactionItem {
    const isSame = when((expression) => sameList(expression, list))
    return { ConditionCheck: { ...this.table, Key: metaKey(list.id), ...isSame } }
  }

  private get table(): { TableName: string } {
    return { TableName: this.store.tables.allowlists }
  }
}

const readClaim = (item: Item): Claim => ({
  owner: textOf(item, 'owner'),
  until: numberOf(item, 'until'),
  incarnation: numberOf(item, 'incarnation'),
})
