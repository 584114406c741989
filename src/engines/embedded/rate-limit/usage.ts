import type { UsageHour, UsageRetention, UsageStore } from '../../../guards/rate-limit/port.js'
import { merge } from '../../../guards/rate-limit/usage-hours.js'
import type { Environment } from '../lmdb/environment.js'

/** A row: limit, admitted and denied of each total; the same for each entity, after its name. */
type Row = [totals: [string, number, number][], entities: [string, string, number, number][]]
type Key = (string | number)[]

const HOUR_MS = 3_600_000
const AT = 'at'
/** Version 0.1.0 had a row for each entity, and one with its age. */
const FORMER_INDEX = 'oldest'
const DROPPED_PER_STEP = 1000

const keyOf = (start: number, resource: string): Key => [AT, start, resource]

/** One row per resource and hour, ordered by time. */
export class EmbeddedUsage implements UsageStore {
  constructor(private readonly environment: Environment) {}

  count(hours: readonly UsageHour[], { entities }: UsageRetention): Promise<void> {
    const { usage } = this.environment
    return this.environment.write(() => {
      for (const hour of hours) {
        const key = keyOf(hour.start, hour.resource)
        const before = readRow(hour.resource, hour.start, usage.get(key))
        usage.putSync(key, JSON.stringify(rowOf(merge(before, hour, entities))))
      }
    })
  }

  async read(resource: string, from: number, to: number): Promise<UsageHour[]> {
    this.environment.refresh()
    const { usage } = this.environment
    const hours: UsageHour[] = []
    for (let start = Math.ceil(from / HOUR_MS) * HOUR_MS; start < to; start += HOUR_MS) {
      const hour = readRow(resource, start, usage.get(keyOf(start, resource)))
      if (hour !== undefined) hours.push(hour)
    }
    return hours
  }

  /** Reads first, on the calling thread: mostly there is nothing to delete. */
  async forget(before: number): Promise<{ more: boolean }> {
    this.environment.refresh()
    const { usage } = this.environment
    const limit = DROPPED_PER_STEP
    const ranges = [
      { start: [AT, 0], end: [AT, before], limit },
      { start: [FORMER_INDEX], end: [`${FORMER_INDEX}~`], limit },
    ]
    const old = ranges.flatMap((range) => Array.from(usage.getRange(range), ({ key }) => key as Key))
    if (old.length > 0) await this.drop(old)
    return { more: old.length >= DROPPED_PER_STEP }
  }

  drop(old: readonly Key[]): Promise<void> {
    const { usage } = this.environment
    return this.environment.free(() => {
      for (const key of old) {
        if (key[0] === FORMER_INDEX) {
          const [, step, start, entity, resource, limit] = key
          usage.removeSync([step!, entity!, resource!, start!, limit!])
        }
        usage.removeSync(key)
      }
    })
  }
}

const rowOf = ({ totals, entities }: UsageHour): Row => [
  totals.map(({ limit, admitted, denied }) => [limit, admitted, denied]),
  entities.map(({ entity, limit, admitted, denied }) => [entity, limit, admitted, denied]),
]

function readRow(resource: string, start: number, text: string | undefined): UsageHour | undefined {
  if (text === undefined) return undefined
  const [totals, entities] = JSON.parse(text) as Row
  return {
    resource,
    start,
    totals: totals.map(([limit, admitted, denied]) => ({ limit, admitted, denied })),
    entities: entities.map(([entity, limit, admitted, denied]) => ({ entity, limit, admitted, denied })),
  }
}
