import type { Meta } from './meta.js'

/** What upkeep did for one list. */
export interface TaskResult {
  swept: number
  /** There is more to do now. */
  more: boolean
  /** When there will be something to do again, if that is known. */
  nextAt?: number
}

/** One kind of upkeep for a list that lives: a bounded piece of it. Several instances may do it at once. */
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
