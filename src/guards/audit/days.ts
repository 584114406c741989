import { boundAt, DAY_MS, dayOf, timeOf } from './entry-id.js'
import type { AuditPart, StoredEntry } from './port.js'

/** The days with entries from `from` up to but not including `below`, newest first. */
export function daysBetween(below: string, from: string): { newest: number; oldest: number } {
  // A bound at the first moment of a day excludes that day.
  const newest = below.length === boundAt(0).length ? dayOf(timeOf(below) - 1) : dayOf(timeOf(below))
  return { newest, oldest: dayOf(timeOf(from)) }
}

export function byDay(entries: readonly StoredEntry[]): Map<number, StoredEntry[]> {
  const days = new Map<number, StoredEntry[]>()
  for (const entry of entries) {
    const day = dayOf(timeOf(entry.id))
    const ofDay = days.get(day)
    if (ofDay === undefined) days.set(day, [entry])
    else ofDay.push(entry)
  }
  return days
}

/**
 * Reads day by day until there are enough entries. `days` are the days to read, newest first. `reached` is the
 * last day that was examined; earlier days were not.
 */
export async function readDays(
  days: readonly number[],
  limit: number,
  reached: { day: number; isEnd: boolean },
  read: (day: number, limit: number) => Promise<readonly StoredEntry[]>,
): Promise<AuditPart> {
  const entries: StoredEntry[] = []
  for (const day of days) {
    entries.push(...(await read(day, limit - entries.length)))
    if (entries.length >= limit) return { entries, next: entries.at(-1)!.id }
  }
  return reached.isEnd ? { entries } : { entries, next: boundAt(reached.day * DAY_MS) }
}
