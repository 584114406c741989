import type { UpkeepStore } from '../../../guards/allowlist/port.js'
import type { Redis } from '../link/redis.js'
import type { Catalog } from './catalog.js'
import type { DueLists } from './due-lists.js'
import { REGISTRY_KEY } from './keys.js'
import type { DeletedLists } from './sweep-deleted.js'
import { type Task, type TaskResult, together } from './tasks.js'

const DUE_PER_SWEEP = 20
const WALKED_PER_SWEEP = 100
const BETWEEN_WALKS_MS = 1000
/** After a failure a list waits this long, so that it cannot block others for ever. */
const AFTER_FAILURE_MS = 10_000

interface SweeperParts {
  redis: Redis
  catalog: Catalog
  due: DueLists
  deleted: DeletedLists
  tasks: readonly Task[]
}

/**
 * Cleans up in small steps what changes left behind: for lists that are recorded as due, and on a slow walk over all
 * lists, for work that a dead process could not record. Several instances at once do no harm.
 */
export class Sweeper implements UpkeepStore {
  private walkedTo = ''
  private walkedAtMs = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: SweeperParts) {}

  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    const { due } = this.parts
    const lists = await due.at(now, DUE_PER_SWEEP)
    const failures: unknown[] = []
    const attempt = async (work: () => Promise<TaskResult>): Promise<TaskResult> => {
      try {
        return await work()
      } catch (error) {
        failures.push(error)
        return { swept: 0, more: false, nextAt: now + AFTER_FAILURE_MS }
      }
    }
    const results: TaskResult[] = []
    for (const list of lists) {
      const result = await attempt(() => this.sweepList(list.id, now))
      results.push(result)
      if (!result.more) await due.settle(list, result.nextAt)
    }
    results.push(...(await this.walk(now, attempt)))
    // One unreachable list must not prevent the sweep of the others.
    if (failures.length > 0) throw failures[0]
    const { swept, more } = together(results)
    return { swept, more: more || lists.length === DUE_PER_SWEEP }
  }

  private async sweepList(id: string, now: number): Promise<TaskResult> {
    const { catalog, deleted, tasks } = this.parts
    const meta = await catalog.readMeta(id)
    if (meta === undefined) return deleted.sweepOrphan(id)
    if (meta.deleted !== undefined) {
      const result = await deleted.sweep(id, meta)
      catalog.forget(id)
      return result
    }
    const results: TaskResult[] = []
    for (const task of tasks) results.push(await task(id, meta, now))
    return together(results)
  }

  private async walk(
    now: number,
    attempt: (work: () => Promise<TaskResult>) => Promise<TaskResult>,
  ): Promise<TaskResult[]> {
    if (performance.now() - this.walkedAtMs < BETWEEN_WALKS_MS) return []
    this.walkedAtMs = performance.now()
    const { redis, due } = this.parts
    const from = this.walkedTo === '' ? '-' : `(${this.walkedTo}`
    const args = ['ZRANGE', REGISTRY_KEY, from, '+', 'BYLEX', 'LIMIT', '0', String(WALKED_PER_SWEEP)]
    const ids = (await redis.read(REGISTRY_KEY, args)) as string[]
    this.walkedTo = ids.length < WALKED_PER_SWEEP ? '' : ids.at(-1)!
    const results: TaskResult[] = []
    for (const id of ids) {
      const result = await attempt(() => this.sweepList(id, now))
      results.push(result)
      const nextAt = result.more ? now : result.nextAt
      if (nextAt !== undefined) await due.noteIfRoom(id, nextAt, now)
    }
    return results
  }
}
