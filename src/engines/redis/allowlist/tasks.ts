import type { Meta } from './meta.js'

/** Result of upkeep for one list. */
export interface TaskResult {
  swept: number
  /** There is more to do now. */
  more: boolean
  /** When there will be work again, if known. */
  nextAt?: number
}

/** One kind of upkeep for an existing list; each call does a limited amount. Several instances may run it at once. */
export type Task = (listId: string, meta: Meta, now: number) => Promise<TaskResult>

export const NOTHING_DUE: TaskResult = { swept: 0, more: false }

export function together(results: readonly TaskResult[]): TaskResult {
  const nextAt = Math.min(...results.map((result) => result.nextAt ?? Number.POSITIVE_INFINITY))
  return {
    swept: results.reduce((sum, { swept }) => sum + swept, 0),
    more: results.some(({ more }) => more),
    ...(nextAt === Number.POSITIVE_INFINITY ? {} : { nextAt }),
  }
}
