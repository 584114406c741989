import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { AllowlistType } from './types.js'

/**
 * The record of a list has content that no version of Catraca wrote: another program wrote it, or it is damaged.
 * Only this list is affected, so a check of several lists still returns results for the others.
 */
export function unreadableList(listId: string, why: string, cause?: unknown): CatracaError {
  const message = `the stored record of allowlist ${listId} cannot be read: ${why}`
  return new CatracaError('ALLOWLIST_UNREADABLE', message, cause === undefined ? {} : { cause })
}

export const isUnreadable = (error: unknown): boolean => isCatracaError(error, 'ALLOWLIST_UNREADABLE')

/** For code that reads several lists: an unreadable one must not hide the others. */
export function unlessUnreadable(error: unknown): undefined {
  if (!isUnreadable(error)) throw error
}

/** Parses the record of a list. */
export function listJson<T>(listId: string, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw unreadableList(listId, 'it is not JSON', cause)
  }
}

/** Asserts the fields that every check needs. */
export function assertListShape(listId: string, list: { type: unknown; config?: unknown }): void {
  const { type, config } = list
  if (type === ('FIXA' satisfies AllowlistType)) return
  if (type !== ('ONDA' satisfies AllowlistType))
    throw unreadableList(listId, 'its type is neither FIXA nor ONDA')
  if (typeof config !== 'object' || config === null)
    throw unreadableList(listId, 'it is a wave without a config')
}

/** The results of those reads that succeed. */
export function readable<T>(reads: readonly (() => T)[]): T[] {
  return reads.flatMap((read) => {
    try {
      return [read()]
    } catch (error) {
      return unlessUnreadable(error) ?? []
    }
  })
}

const REPORT_EVERY_MS = 60_000
const MAX_REMEMBERED = 1000

/** Reports each unreadable list once a minute, however often it is checked. */
export class UnreadableReports {
  private readonly reportedAt = new Map<string, number>()

  constructor(
    private readonly report: (message: string, error: unknown) => void,
    private readonly time: () => number = () => performance.now(),
  ) {}

  add(listId: string, error: unknown): void {
    const now = this.time()
    if (now - (this.reportedAt.get(listId) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return
    if (this.reportedAt.size >= MAX_REMEMBERED) this.reportedAt.clear()
    this.reportedAt.set(listId, now)
    this.report(`allowlist ${listId} cannot be read, and denies`, error)
  }
}
