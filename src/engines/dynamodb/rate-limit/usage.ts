import { chunksOf } from '../../../core/chunks.js'
import type {
  EntityUse,
  LimitUse,
  UsageHour,
  UsageRetention,
  UsageStore,
} from '../../../guards/rate-limit/port.js'
import { addUp, hourOf, surplusOf } from '../../../guards/rate-limit/usage-hours.js'
import { type Item, number } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { inTurns } from '../client/in-turns.js'
import { between } from '../client/key-ranges.js'
import { readUsageSort, usageKey, usagePartition, usageSort } from './keys.js'
import { type LimitTable, ttlOf } from './table.js'

const HOUR_MS = 3_600_000
const IN_FLIGHT = 32
/** An expression has at most 300 operations and 4 KB. */
const USES_PER_UPDATE = 60

const KINDS = ['admitted', 'denied'] as const

type Use = LimitUse & { entity?: string }

/** One item per resource and hour: the counts of a process for a resource are one write. TTL deletes old items. */
export class DynamodbUsage implements UsageStore {
  constructor(private readonly guards: LimitTable) {}

  async count(hours: readonly UsageHour[], kept: UsageRetention): Promise<void> {
    const failures: unknown[] = []
    await inTurns(hours, IN_FLIGHT, async (hour) => {
      await this.countHour(hour, kept).catch((error) => failures.push(error))
    })
    if (failures.length > 0) throw failures[0]
  }

  private async countHour(hour: UsageHour, kept: UsageRetention): Promise<void> {
    const uses: Use[] = [...addUp(hour.totals), ...addUp(hour.entities)]
    let after: Item | undefined
    for (const part of chunksOf(uses, USES_PER_UPDATE)) after = await this.add(hour, part, kept.ms)
    const surplus = surplusOf(after === undefined ? [] : readHour(hour, after).entities, kept.entities)
    for (const part of chunksOf(surplus, USES_PER_UPDATE)) await this.remove(hour, part)
  }

  /** Not repeated after a lost response: usage may be undercounted, never counted twice. */
  private async add(hour: UsageHour, uses: readonly Use[], keptMs: number): Promise<Item | undefined> {
    const expression = new Expression().set({ ttl: number(ttlOf(hour.start + HOUR_MS + keptMs)) })
    const adds = uses.flatMap((use) =>
      KINDS.filter((kind) => use[kind] !== 0).map(
        (kind) => `${expression.attribute(attributeOf(kind, use))} ${expression.value(number(use[kind]))}`,
      ),
    )
    if (adds.length === 0) return undefined
    expression.change('ADD', ...adds)
    const input = { ...this.at(hour), ReturnValues: 'ALL_NEW' as const, ...expression.update() }
    return (await this.guards.client.updateItem('limit.usage', input, { repeatable: false })).item
  }

  private async remove(hour: UsageHour, uses: readonly EntityUse[]): Promise<void> {
    const expression = new Expression()
    const names = uses.flatMap((use) => KINDS.map((kind) => expression.attribute(attributeOf(kind, use))))
    const input = { ...this.at(hour), ...expression.change('REMOVE', ...names).update() }
    await this.guards.client.updateItem('limit.usage', input, { repeatable: true })
  }

  private at({ resource, start }: UsageHour) {
    return { TableName: this.guards.table, Key: usageKey(resource, start) }
  }

  async read(resource: string, from: number, to: number): Promise<UsageHour[]> {
    const { client, table: TableName } = this.guards
    const range = between(usagePartition(resource), usageSort(from), usageSort(to - 1))
    const items = await client.queryAll('limit.usage', { TableName, ...range })
    return items.map((item) => readHour({ resource, start: readUsageSort(item.SK!.S!) }, item))
  }

  /** TTL deletes old items. */
  async forget(): Promise<{ more: boolean }> {
    return { more: false }
  }
}

/** In capitals for an entity, whose name is the last part. */
function attributeOf(kind: 'admitted' | 'denied', { limit, entity }: Use): string {
  return entity === undefined ? `${kind[0]}#${limit}` : `${kind[0]!.toUpperCase()}#${limit}#${entity}`
}

const readHour = (hour: Pick<UsageHour, 'resource' | 'start'>, item: Item): UsageHour =>
  hourOf(
    hour,
    Object.entries(item).map(([name, { N }]) => [name, Number(N)]),
    '#',
  )
