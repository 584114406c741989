import type { ConfigKey, Subject } from '../../../guards/rate-limit/types.js'
import { type Item, number, numberOf, optionalNumber, optionalText, text } from '../client/attributes.js'
import type { TransactionItem } from '../client/transactions.js'
import { HEAD_PREFIX, headKey, NOTICE_PARTITION, type NoticeKind, noticeKey, noticeSort } from './keys.js'
import { type LimitTable, ttlOf } from './table.js'

const KEPT_MS = 3_600_000

/** The last numbers of the logs, and the schema version, which is stored beside them. */
export interface Heads extends Record<NoticeKind, number> {
  schemaVersion: number
}

/** Notices in the table: for each kind those of the last hour, numbered, and the number of the last one. */
export class NoticeLog {
  constructor(
    private readonly guards: LimitTable,
    private readonly now: () => number,
  ) {}

  /**
   * Counts first, then writes the notice: a process that dies in between leaves a number without a notice, which
   * means that anything may be freed.
   */
  async tellFreed(subjects: readonly Subject[]): Promise<void> {
    const { client, table } = this.guards
    const input = {
      TableName: table,
      Key: headKey('freed'),
      UpdateExpression: 'ADD #number :one',
      ExpressionAttributeNames: { '#number': 'number' },
      ExpressionAttributeValues: { ':one': number(1) },
      ReturnValues: 'ALL_NEW',
    } as const
    // Counted twice, there is also a number without a notice.
    const { item } = await client.updateItem('limit.tell', input, { repeatable: true })
    const names = subjects.map(({ entity, resource }) => text(`${entity}#${resource}`))
    const notice = { ...this.noticeOf('freed', numberOf(item!, 'number')), subjects: { L: names } }
    await client.putItem('limit.tell', { TableName: table, Item: notice })
  }

  /**
   * The part of a configuration change that publishes it. Its condition checks that nothing was changed since `from`.
   */
  configNotice(from: number, key: ConfigKey | undefined): TransactionItem[] {
    const { table: TableName } = this.guards
    const notice = this.noticeOf('config', from + 1)
    if (key !== undefined) {
      notice.level = text(key.level)
      notice.resource = text(key.resource)
      if (key.level === 'entity') notice.entity = text(key.entity)
    }
    const isFirst = from === 0
    const update = {
      TableName,
      Key: headKey('config'),
      UpdateExpression: 'SET #number = :next',
      ConditionExpression: isFirst ? 'attribute_not_exists(#number)' : '#number = :from',
      ExpressionAttributeNames: { '#number': 'number' },
      ExpressionAttributeValues: { ':next': number(from + 1), ...(!isFirst && { ':from': number(from) }) },
    }
    return [{ Update: update }, { Put: { TableName, Item: notice } }]
  }

  /** Eventually consistent. */
  async heads(): Promise<Heads> {
    const { client, table: TableName } = this.guards
    const { items } = await client.query('limit.watch', {
      TableName,
      KeyConditionExpression: 'PK = :partition AND begins_with(SK, :head)',
      ExpressionAttributeValues: { ':partition': text(NOTICE_PARTITION), ':head': text(HEAD_PREFIX) },
    })
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

  async read(kind: NoticeKind, from: number, to: number): Promise<Item[]> {
    const { client, table: TableName } = this.guards
    const { items } = await client.query('limit.watch', {
      TableName,
      KeyConditionExpression: 'PK = :partition AND SK BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':partition': text(NOTICE_PARTITION),
        ':from': text(noticeSort(kind, from)),
        ':to': text(noticeSort(kind, to)),
      },
      ConsistentRead: true,
    })
    return items
  }

  private noticeOf(kind: NoticeKind, count: number): Item {
    return { ...noticeKey(kind, count), ttl: number(ttlOf(this.now() + KEPT_MS)) }
  }
}

const countOf = (item: Item): number => optionalNumber(item, 'number') ?? 0
const versionOf = (item: Item): number => optionalNumber(item, 'schema_version') ?? 1

export function changedKey(notice: Item): ConfigKey | undefined {
  const [level, resource, entity] = ['level', 'resource', 'entity'].map((name) => optionalText(notice, name))
  if (resource === undefined) return undefined
  if (level === 'entity' && entity !== undefined) return { level, entity, resource }
  return level === 'system' || level === 'resource' ? { level, resource } : undefined
}

/** Empty: too many to name. */
export const freedSubjects = (notice: Item): Subject[] =>
  (notice.subjects?.L ?? []).map((name) => {
    const [entity = '', resource = ''] = (name.S ?? '').split('#')
    return { entity, resource }
  })
