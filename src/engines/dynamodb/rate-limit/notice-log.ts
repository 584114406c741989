import { changedConfig } from '../../../guards/rate-limit/notice-listeners.js'
import type { ConfigKey, Subject } from '../../../guards/rate-limit/types.js'
import { type Item, number, optionalNumber, optionalText, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { startingWith } from '../client/key-ranges.js'
import { NumberedItems } from '../client/numbered-items.js'
import type { TransactionItem } from '../client/transactions.js'
import { HEAD_PREFIX, headKey, NOTICE_PARTITION, type NoticeKind, noticeKey } from './keys.js'
import { type LimitTable, ttlOf } from './table.js'

const KEPT_MS = 3_600_000

/** The last numbers of the logs, and the schema version, which is stored beside them. */
export interface Heads extends Record<NoticeKind, number> {
  schemaVersion: number
}

/** Notices in the table: for each kind those of the last hour, numbered, and the number of the last one. */
export class NoticeLog {
  private readonly items: Record<NoticeKind, NumberedItems>

  constructor(
    private readonly guards: LimitTable,
    private readonly now: () => number,
  ) {
    const items = (kind: NoticeKind) =>
      new NumberedItems(guards, 'limit', headKey(kind), (number) => noticeKey(kind, number))
    this.items = { config: items('config'), freed: items('freed') }
  }

  tellFreed(subjects: readonly Subject[]): Promise<void> {
    const names = subjects.map(({ entity, resource }) => text(`${entity}#${resource}`))
    return this.items.freed.append({ ...this.ttl(), subjects: { L: names } })
  }

  /**
   * The part of a configuration change that publishes it. Its condition checks that nothing was changed since `from`.
   */
  configNotice(from: number, key: ConfigKey | undefined): TransactionItem[] {
    const { table: TableName } = this.guards
    const notice: Item = { ...noticeKey('config', from + 1), ...this.ttl() }
    if (key !== undefined) {
      notice.level = text(key.level)
      notice.resource = text(key.resource)
      if (key.level === 'entity') notice.entity = text(key.entity)
    }
    const next = new Expression().set({ number: number(from + 1) })
    next.when(next.equals('number', from === 0 ? undefined : number(from)))
    const Update = { TableName, Key: headKey('config'), ...next.update() }
    return [{ Update }, { Put: { TableName, Item: notice } }]
  }

  /** Eventually consistent. */
  async heads(): Promise<Heads> {
    const { client, table: TableName } = this.guards
    const range = { ...startingWith(NOTICE_PARTITION, HEAD_PREFIX), ConsistentRead: false }
    const { items } = await client.query('limit.watch', { TableName, ...range })
    const head = (kind: NoticeKind) => items.find(({ SK }) => SK?.S === HEAD_PREFIX + kind) ?? {}
    return {
      config: countOf(head('config')),
      freed: countOf(head('freed')),
      schemaVersion: versionOf(head('config')),
    }
  }

  async head(
    verb: string,
    kind: NoticeKind,
    isConsistent: boolean,
  ): Promise<{ count: number; schemaVersion: number }> {
    const { client, table: TableName } = this.guards
    const input = { TableName, Key: headKey(kind), ConsistentRead: isConsistent }
    const item = (await client.getItem(verb, input)) ?? {}
    return { count: countOf(item), schemaVersion: versionOf(item) }
  }

  read(kind: NoticeKind, from: number, to: number): Promise<Item[]> {
    return this.items[kind].read(from, to)
  }

  private ttl(): Item {
    return { ttl: number(ttlOf(this.now() + KEPT_MS)) }
  }
}

const countOf = (item: Item): number => optionalNumber(item, 'number') ?? 0
const versionOf = (item: Item): number => optionalNumber(item, 'schema_version') ?? 1

export const changedKey = (notice: Item): ConfigKey | undefined =>
  changedConfig(...['level', 'resource', 'entity'].map((name) => optionalText(notice, name)))

/** Empty: too many to name. */
export const freedSubjects = (notice: Item): Subject[] =>
  (notice.subjects?.L ?? []).map((name) => {
    const [entity = '', resource = ''] = (name.S ?? '').split('#')
    return { entity, resource }
  })
