import type { UsageRow, UsageStep, UsageStore } from '../../rate-limit/port.js'
import type { Subject } from '../../rate-limit/types.js'
import type { Environment } from './environment.js'

/** Key: step, entity, resource, start, limit. And by time, so that what is old is found: step, start. */
type Counts = [admitted: number, denied: number]

const FORGOTTEN_PER_STEP = 1000
const OLDEST = 'oldest'

export class EmbeddedUsage implements UsageStore {
  constructor(private readonly environment: Environment) {}

  count(rows: readonly UsageRow[]): Promise<void> {
    const { usage } = this.environment
    return this.environment.write(() => {
      for (const { step, entity, resource, start, limit, admitted, denied } of rows) {
        const key = [step, entity, resource, start, limit]
        const [before, refused] = JSON.parse(usage.get(key) ?? '[0,0]') as Counts
        usage.putSync(key, JSON.stringify([before + admitted, refused + denied] satisfies Counts))
        usage.putSync([OLDEST, step, start, entity, resource, limit], '')
      }
    })
  }

  async read({ entity, resource }: Subject, step: UsageStep, from: number, to: number): Promise<UsageRow[]> {
    this.environment.refresh()
    const start = [step, entity, resource, from]
    const end = [step, entity, resource, to]
    return Array.from(this.environment.usage.getRange({ start, end }), ({ key, value }) => {
      const [admitted, denied] = JSON.parse(value) as Counts
      return { entity, resource, step, start: Number(key[3]), limit: String(key[4]), admitted, denied }
    })
  }

  /** Looks first, on the calling thread: mostly there is nothing to write. */
  async forget(step: UsageStep, before: number): Promise<{ more: boolean }> {
    this.environment.refresh()
    const range = { start: [OLDEST, step, 0], end: [OLDEST, step, before], limit: FORGOTTEN_PER_STEP }
    const old = Array.from(this.environment.usage.getRange(range), ({ key }) => key)
    if (old.length > 0) await this.drop(old)
    return { more: old.length === FORGOTTEN_PER_STEP }
  }

  /** Removes rows by their keys in the order of time. */
  drop(old: readonly (string | number)[][]): Promise<void> {
    const { usage } = this.environment
    return this.environment.free(() => {
      for (const key of old) {
        const [, step, start, entity, resource, limit] = key
        usage.removeSync([step!, entity!, resource!, start!, limit!])
        usage.removeSync(key)
      }
    })
  }
}
