import { chunksOf } from '../../../core/chunks.js'
import type { UsageHour, UsageRetention, UsageStore } from '../../../guards/rate-limit/port.js'
import { hourOf } from '../../../guards/rate-limit/usage-hours.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { usageKey } from './keys.js'

const COUNT = defineScript('limit-count', { keys: 1, write: true, together: 32 })
const HOUR_MS = 3_600_000
/** Hours that are read concurrently. */
const READ_AT_ONCE = 250

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
    for (const part of chunksOf(starts, READ_AT_ONCE)) {
      hours.push(...(await Promise.all(part.map((start) => this.hour(resource, start)))))
    }
    return hours.filter(({ totals, entities }) => totals.length + entities.length > 0)
  }

  private async hour(resource: string, start: number): Promise<UsageHour> {
    const key = usageKey(resource, start)
    const fields = (await this.redis.read(key, ['HGETALL', key])) as ReadonlyMap<string, string>
    return hourOf(
      { resource, start },
      Array.from(fields, ([name, count]) => [name, Number(count)]),
      ':',
    )
  }

  /** All keys expire. */
  async forget(): Promise<{ more: boolean }> {
    return { more: false }
  }
}
