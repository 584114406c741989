import type { UpkeepStore } from '../../../guards/allowlist/port.js'
import { inTurns } from '../client/in-turns.js'
import type { DueTask, NotedTask } from './due.js'
import type { Store } from './store.js'

/** `more`: there is more to do at once; `again`: when it is due again. */
export type TaskResult = 'done' | 'more' | { again: number }
/**
 * Does a limited part of a task. Several processes may call it at once, also for a task that was recorded needlessly.
 */
type TaskHandler = (task: DueTask, now: number) => Promise<TaskResult>
export type TaskHandlers = Record<string, TaskHandler>

const TASKS_PER_PARTITION = 50
const AT_ONCE = 48
const UNKNOWN_AGAIN_MS = 3_600_000

/** Executes due tasks. Any process may, and several at once do no harm: every step checks whether it is needed. */
export class DynamodbUpkeep implements UpkeepStore {
  constructor(
    private readonly store: Store,
    private readonly handlers: TaskHandlers,
  ) {}

  async sweep(now: number): Promise<{ swept: number; more: boolean }> {
    const { due } = this.store
    const { tasks, more } = await due.due(now, TASKS_PER_PARTITION)
    const done: NotedTask[] = []
    const later: DueTask[] = []
    const failures: unknown[] = []
    let unfinished = 0
    await inTurns(tasks, AT_ONCE, async (task) => {
      try {
        const result = await this.handle(task, now)
        if (result === 'more') unfinished++
        else done.push(task)
        if (typeof result === 'object') later.push({ ...task, at: result.again })
      } catch (error) {
        // A task that fails must not prevent the others.
        failures.push(error)
      }
    })
    await due.note(later)
    await due.done(done)
    if (failures.length > 0) throw failures[0]
    return { swept: tasks.length, more: unfinished > 0 || (more && done.length > 0) }
  }

  private handle(task: NotedTask, now: number): Promise<TaskResult> {
    const handler = Object.hasOwn(this.handlers, task.kind) ? this.handlers[task.kind] : undefined
    // A newer version of the product knows this task.
    return handler?.(task, now) ?? Promise.resolve({ again: now + UNKNOWN_AGAIN_MS })
  }
}
