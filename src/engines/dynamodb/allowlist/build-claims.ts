import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { type Item, number, numberOf, text, textOf } from '../client/attributes.js'
import { all, Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { buildKey, metaKey } from './items.js'
import { type StoredList, sameList } from './meta.js'
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
    const expression = new Expression()
    const isFree = [
      expression.absent('PK'),
      `${expression.name('until')} <= ${expression.value(number(now))}`,
      `${expression.name('incarnation')} <> ${expression.value(number(list.incarnation))}`,
    ].join(' OR ')
    const Item = {
      ...buildKey(list.id),
      owner: text(owner),
      until: number(until),
      incarnation: number(list.incarnation),
    }
    const { applied } = await this.store.client.transactWrite(VERB, [
      this.isThere(stored),
      { Put: { ...this.table, Item, ConditionExpression: isFree, ...expression.parts() } },
      this.store.due.put({ kind: BUILD, at: until, parts: [list.id] }),
    ])
    return applied
  }

  async renew(list: ListRef, owner: string, until: number): Promise<boolean> {
    const stored = await this.stored(list)
    if (stored === undefined) return false
    const expression = new Expression()
    const Update = {
      ...this.table,
      Key: buildKey(list.id),
      UpdateExpression: `SET ${expression.name('until')} = ${expression.value(number(until))}`,
      ConditionExpression: isBuilder(expression, list, owner),
      ...expression.parts(),
    }
    return (await this.store.client.transactWrite(VERB, [this.isThere(stored), { Update }])).applied
  }

  /** Whether the owner still is the builder, and the list still exists. */
  async isHeld(list: ListRef, owner: string): Promise<boolean> {
    const [stored, claim] = await Promise.all([this.store.catalog.read(list.id), this.read(list.id)])
    const { incarnation } = list
    return stored?.incarnation === incarnation && claim?.owner === owner && claim.incarnation === incarnation
  }

  async read(listId: string): Promise<Claim | undefined> {
    const Key = buildKey(listId)
    const item = await this.store.client.getItem(VERB, { ...this.table, Key, ConsistentRead: true })
    return item && readClaim(item)
  }

  /** False: another claim has replaced this one. */
  async end(list: ListRef, { owner, until }: Claim): Promise<boolean> {
    const expression = new Expression()
    const ConditionExpression = all(
      isBuilder(expression, list, owner),
      expression.equals('until', number(until)),
    )
    const Key = buildKey(list.id)
    const result = await this.store.client.deleteItem(VERB, {
      ...this.table,
      Key,
      ConditionExpression,
      ...expression.parts(),
    })
    return result.applied || (result.maybeOwn && result.item === undefined)
  }

  /** Ends the claim as an item of a transaction. */
  endStep(list: ListRef, owner: string): TransactionItem {
    const expression = new Expression()
    const ConditionExpression = isBuilder(expression, list, owner)
    return {
      Delete: { ...this.table, Key: buildKey(list.id), ConditionExpression, ...expression.parts() },
    }
  }

  async stored(list: ListRef): Promise<StoredList | undefined> {
    const stored = await this.store.catalog.recent(list.id)
    return stored?.incarnation === list.incarnation ? stored : undefined
  }

  private isThere(list: StoredList): TransactionItem {
    const expression = new Expression()
    const ConditionExpression = sameList(expression, list)
    return {
      ConditionCheck: { ...this.table, Key: metaKey(list.id), ConditionExpression, ...expression.parts() },
    }
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

const isBuilder = (expression: Expression, { incarnation }: ListRef, owner: string): string =>
  all(expression.equals('owner', text(owner)), expression.equals('incarnation', number(incarnation)))
