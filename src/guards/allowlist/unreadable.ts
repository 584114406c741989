import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { AllowlistType } from './types.js'

/**
 * The record of one list holds what no version has written: another program, or damage. Only this list is concerned,
 * so whoever asks about several lists is answered for the others.
 */
export function unreadableList(listId: string, why: string, cause?: unknown): CatracaError {
  const message = `the stored record of allowlist ${listId} cannot be read: ${why}`
  return new CatracaError('ALLOWLIST_UNREADABLE', message, cause === undefined ? {} : { cause })
}

export const isUnreadable = (error: unknown): boolean => isCatracaError(error, 'ALLOWLIST_UNREADABLE')

/** Where several lists are read: one that cannot be read must not hide the others. */
export function unlessUnreadable(error: unknown): undefined {
  if (!isUnreadable(error)) throw error
}

/** JSON of a list's record. */
export function listJson<T>(listId: string, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw unreadableList(listId, 'it is not JSON', cause)
  }
}

/** What every check relies on. */
export function assertListShape(listId: string, list: { type: unknown; config?: unknown }): void {
  const { type, config } = list
  if (type === ('FIXA' satisfies AllowlistType)) return
  if (type !== ('ONDA' satisfies AllowlistType))
    throw unreadableList(listId, 'its type is neither FIXA nor ONDA')
  if (typeof config !== 'object' || config === null)
    throw unreadableList(listId, 'it is a wave without a config')
}

/** Of several, those that can be read. */
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

/** Tells of each such list once a minute, however often it is asked about. */
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
