import { USAGE_KEPT_MS } from '../../../rate-limit/options.js'
import type { UsageRow, UsageStep, UsageStore } from '../../../rate-limit/port.js'
import type { Subject } from '../../../rate-limit/types.js'
import { type Item, number, optionalNumber, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import {
  readUsageSort,
  sinceAttribute,
  USAGE_SINCE_KEY,
  usageKey,
  usagePartition,
  usageSort,
} from './keys.js'
import { type LimitTable, ttlOf } from './table.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS: Record<UsageStep, number> = { hour: HOUR_MS, day: DAY_MS }
const IN_FLIGHT = 32
/** One expression takes 300 operations, and 4 KB. */
const ROWS_PER_UPDATE = 60
const COUNT = /^(day|\d\d)#(admitted|denied)#(.+)$/

/**
 * An item for each subject and day, with the counts of the day and of its hours side by side: what a process has counted of
 * a subject is one write. Hours are kept as long as their day; `forget` says from when on they are told.
 */
export class DynamodbUsage implements UsageStore {
  private readonly forgotten: Record<UsageStep, number> = { hour: 0, day: 0 }

  constructor(private readonly guards: LimitTable) {}

  async count(rows: readonly UsageRow[]): Promise<void> {
    const updates = [...grouped(rows)].flatMap((group) => chunks(group))
    const failures: unknown[] = []
    const worker = async () => {
      for (let next = updates.pop(); next !== undefined; next = updates.pop()) {
        await this.add(next).catch((error) => failures.push(error))
      }
    }
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, updates.length) }, worker))
    if (failures.length > 0) throw failures[0]
  }

  /** Not sent again after an answer that was lost: what is counted was counted, what is lost is less. */
  private async add(rows: readonly UsageRow[]): Promise<void> {
    const expression = new Expression()
    const adds = rows.flatMap((row) =>
      (['admitted', 'denied'] as const)
        .filter((kind) => row[kind] !== 0)
        .map((kind) => {
          const name = expression.attribute(`${stepName(row)}#${kind}#${row.limit}`)
          return `${name} ${expression.value(number(row[kind]))}`
        }),
    )
    if (adds.length === 0) return
    const day = dayOf(rows[0]!)
    const ttl = expression.value(number(ttlOf(day + DAY_MS + USAGE_KEPT_MS.day)))
    const input = {
      TableName: this.guards.table,
      Key: usageKey(rows[0]!, day),
      UpdateExpression: `SET ${expression.attribute('ttl')} = ${ttl} ADD ${adds.join(', ')}`,
      ...expression.parts(),
    }
    await this.guards.client.updateItem('limit.usage', input, { repeatable: false })
  }

  async read(subject: Subject, step: UsageStep, from: number, to: number): Promise<UsageRow[]> {
    const { client, table: TableName } = this.guards
    const first = Math.max(from, await this.since(step))
    if (first >= to) return []
    const rows: UsageRow[] = []
    const pages = client.queryPages('limit.usage', {
      TableName,
      KeyConditionExpression: 'PK = :partition AND SK BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':partition': text(usagePartition(subject)),
        ':first': text(usageSort(dayStart(first))),
        ':last': text(usageSort(to)),
      },
      ConsistentRead: true,
    })
    for await (const items of pages) for (const item of items) rows.push(...rowsOf(subject, step, item))
    return rows
      .filter(({ start }) => start >= first && start < to)
      .sort((a, b) => a.start - b.start || (a.limit < b.limit ? -1 : 1))
  }

  private async since(step: UsageStep): Promise<number> {
    const { client, table: TableName } = this.guards
    const item = await client.getItem('limit.usage', {
      TableName,
      Key: USAGE_SINCE_KEY,
      ConsistentRead: true,
    })
    return optionalNumber(item ?? {}, sinceAttribute[step]) ?? 0
  }

  /** TTL deletes what is old. This is written down once an hour, or once a day. */
  async forget(step: UsageStep, before: number): Promise<{ more: boolean }> {
    const since = before - (before % STEP_MS[step])
    if (since > this.forgotten[step]) {
      const { client, table: TableName } = this.guards
      const input = {
        TableName,
        Key: USAGE_SINCE_KEY,
        UpdateExpression: 'SET #since = :since',
        ConditionExpression: 'attribute_not_exists(#since) OR #since < :since',
        ExpressionAttributeNames: { '#since': sinceAttribute[step] },
        ExpressionAttributeValues: { ':since': number(since) },
      }
      await client.updateItem('limit.usage', input, { repeatable: true })
      this.forgotten[step] = since
    }
    return { more: false }
  }
}

const dayStart = (ms: number): number => ms - (ms % DAY_MS)
const dayOf = ({ start }: UsageRow): number => dayStart(start)

/** `day`, or the hour as two digits. */
function stepName({ step, start }: UsageRow): string {
  if (step === 'day') return 'day'
  return String(Math.floor((start % DAY_MS) / HOUR_MS)).padStart(2, '0')
}

/** Rows that lie in one item. */
function* grouped(rows: readonly UsageRow[]): Generator<UsageRow[]> {
  const byResource = new Map<string, Map<string, Map<number, UsageRow[]>>>()
  for (const row of rows) {
    const byDay = child(child(byResource, row.resource), row.entity)
    const group = byDay.get(dayOf(row))
    if (group === undefined) byDay.set(dayOf(row), [row])
    else group.push(row)
  }
  for (const byEntity of byResource.values()) for (const byDay of byEntity.values()) yield* byDay.values()
}

function child<K, V>(maps: Map<string, Map<K, V>>, name: string): Map<K, V> {
  let found = maps.get(name)
  if (found === undefined) maps.set(name, (found = new Map()))
  return found
}

/** No attribute twice in one update: rows of the same limit and time are added up. */
function chunks(rows: readonly UsageRow[]): UsageRow[][] {
  const sums = new Map<string, UsageRow>()
  for (const row of rows) {
    const name = `${stepName(row)}#${row.limit}`
    const { admitted, denied } = sums.get(name) ?? { admitted: 0, denied: 0 }
    sums.set(name, { ...row, admitted: admitted + row.admitted, denied: denied + row.denied })
  }
  const all = [...sums.values()]
  const parts: UsageRow[][] = []
  for (let at = 0; at < all.length; at += ROWS_PER_UPDATE) parts.push(all.slice(at, at + ROWS_PER_UPDATE))
  return parts
}

function rowsOf(subject: Subject, step: UsageStep, item: Item): UsageRow[] {
  const { entity, resource } = subject
  const day = readUsageSort(item.SK!.S!)
  const rows = new Map<string, UsageRow>()
  for (const attribute in item) {
    const [, at, kind, limit] = COUNT.exec(attribute) ?? []
    if (limit === undefined || (at === 'day') !== (step === 'day')) continue
    const name = `${at}#${limit}`
    const start = at === 'day' ? day : day + Number(at) * HOUR_MS
    const row = rows.get(name) ?? { entity, resource, limit, step, start, admitted: 0, denied: 0 }
    row[kind as 'admitted' | 'denied'] = Number(item[attribute]!.N)
    rows.set(name, row)
  }
  return [...rows.values()]
}
