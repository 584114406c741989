import type {
  EntityUse,
  LimitUse,
  UsageHour,
  UsageRetention,
  UsageStore,
} from '../../../guards/rate-limit/port.js'
import { addUp } from '../../../guards/rate-limit/usage-hours.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { usageKey } from './keys.js'

const COUNT = defineScript('limit-count', { keys: 1, write: true, together: 32 })
const HOUR_MS = 3_600_000
/** Hours that are read concurrently. */
const READ_AT_ONCE = 250
const TOTAL = /^([ad]):([^:]+)$/
const ENTITY = /^([AD]):([^:]+):(.+)$/

/** One hash per resource and hour, which expires. */
export class RedisUsage implements UsageStore {
  constructor(private readonly redis: Redis) {}

  async count(hours: readonly UsageHour[], { entities: most, ms }: UsageRetention): Promise<void> {
    const counted = hours.map(({ resource, start, totals, entities }) => {
      // In the format of `lua/limit-count.lua`.
      const args = [
        ...[String(ms + HOUR_MS), String(most), String(totals.length)],
        ...totals.flatMap(({ limit, admitted, denied }) => [limit, String(admitted), String(denied)]),
        ...entities.flatMap(({ entity, limit, admitted, denied }) => {
          return [entity, limit, String(admitted), String(denied)]
        }),
      ]
      return this.redis.run(COUNT, [usageKey(resource, start)], args)
    })
    const failed = (await Promise.allSettled(counted)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  async read(resource: string, from: number, to: number): Promise<UsageHour[]> {
    const starts: number[] = []
    for (let start = Math.ceil(from / HOUR_MS) * HOUR_MS; start < to; start += HOUR_MS) starts.push(start)
    const hours: UsageHour[] = []
    for (let i = 0; i < starts.length; i += READ_AT_ONCE) {
      const part = starts.slice(i, i + READ_AT_ONCE)
      const found = await Promise.all(part.map((start) => this.fields(usageKey(resource, start))))
      found.forEach((fields, n) => {
        if (fields.size > 0) hours.push(hourOf(resource, part[n]!, fields))
      })
    }
    return hours
  }

  private fields(key: string): Promise<ReadonlyMap<string, string>> {
    return this.redis.read(key, ['HGETALL', key]) as Promise<ReadonlyMap<string, string>>
  }

  /** All keys expire. */
  async forget(): Promise<{ more: boolean }> {
    return { more: false }
  }
}

function hourOf(resource: string, start: number, fields: ReadonlyMap<string, string>): UsageHour {
  const totals: LimitUse[] = []
  const entities: EntityUse[] = []
  for (const [field, value] of fields) {
    const [, kind, limit] = TOTAL.exec(field) ?? []
    if (limit !== undefined) totals.push({ limit, ...amountOf(kind!, value) })
    const [, ofEntity, name, entity] = ENTITY.exec(field) ?? []
    if (entity !== undefined) entities.push({ entity, limit: name!, ...amountOf(ofEntity!, value) })
  }
  return { resource, start, totals: addUp(totals), entities: addUp(entities) }
}

const amountOf = (kind: string, value: string) =>
  kind.toLowerCase() === 'a' ? { admitted: Number(value), denied: 0 } : { admitted: 0, denied: Number(value) }
