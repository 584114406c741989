import { USAGE_KEPT_MS } from '../../../rate-limit/options.js'
import type { UsageRow, UsageStep, UsageStore } from '../../../rate-limit/port.js'
import type { Subject } from '../../../rate-limit/types.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { rowKey, USAGE_SINCE_KEY, usageKey } from './keys.js'

const COUNT = defineScript('limit-count', { keys: 2, write: true, together: 32 })
const FORGET = defineScript('limit-forget', { keys: 1, write: true })
const FIELD = /^(\d+):([ad]):(.+)$/

/**
 * A hash for each subject and step. What is old leaves it when a new hour or day begins, and a subject that is no longer
 * used expires; `forget` only says from when on usage is told.
 */
export class RedisUsage implements UsageStore {
  constructor(private readonly redis: Redis) {}

  async count(rows: readonly UsageRow[]): Promise<void> {
    const perSubject = new Map<string, Record<UsageStep, string[]>>()
    for (const row of rows) {
      const name = rowKey(row)
      let steps = perSubject.get(name)
      if (steps === undefined) perSubject.set(name, (steps = { hour: [], day: [] }))
      steps[row.step].push(String(row.start), row.limit, String(row.admitted), String(row.denied))
    }
    const counted = [...perSubject].map(([row, { hour, day }]) => {
      const args = [...argsOf('hour', hour), ...argsOf('day', day)]
      return this.redis.run(COUNT, [usageKey(row, 'hour'), usageKey(row, 'day')], args)
    })
    const failed = (await Promise.allSettled(counted)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  }

  async read(subject: Subject, step: UsageStep, from: number, to: number): Promise<UsageRow[]> {
    const key = usageKey(rowKey(subject), step)
    const [since, fields] = await Promise.all([
      this.redis.read(USAGE_SINCE_KEY, ['HGET', USAGE_SINCE_KEY, step]),
      this.redis.read(key, ['HGETALL', key]) as Promise<Map<string, string>>,
    ])
    const first = Math.max(from, Number(since ?? 0))
    return rowsOf(subject, step, fields)
      .filter(({ start }) => start >= first && start < to)
      .sort((a, b) => a.start - b.start || (a.limit < b.limit ? -1 : 1))
  }

  async forget(step: UsageStep, before: number): Promise<{ more: boolean }> {
    await this.redis.run(FORGET, [USAGE_SINCE_KEY], [step, String(before)])
    return { more: false }
  }
}

/** In the words of `lua/limit-count.lua`. */
const argsOf = (step: UsageStep, rows: readonly string[]): string[] => [
  String(USAGE_KEPT_MS[step]),
  String(rows.length / 4),
  ...rows,
]

function rowsOf(
  { entity, resource }: Subject,
  step: UsageStep,
  fields: ReadonlyMap<string, string>,
): UsageRow[] {
  const rows = new Map<string, UsageRow>()
  for (const [field, value] of fields) {
    const [, start, kind, limit] = FIELD.exec(field) ?? []
    if (limit === undefined) continue
    const name = `${start}:${limit}`
    const row = rows.get(name) ?? {
      ...{ entity, resource, limit, step, start: Number(start) },
      ...{ admitted: 0, denied: 0 },
    }
    row[kind === 'a' ? 'admitted' : 'denied'] = Number(value)
    rows.set(name, row)
  }
  return [...rows.values()]
}
