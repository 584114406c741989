import { boundAt, DAY_MS, dayOf, timeOf } from './entry-id.js'
import type { AuditPart, StoredEntry } from './port.js'

/** The days that hold entries below `below` and from `from` on, the newest first. */
export function daysBetween(below: string, from: string): { newest: number; oldest: number } {
  // A bound at the first moment of a day has nothing of that day below it.
  const newest = below.length === boundAt(0).length ? dayOf(timeOf(below) - 1) : dayOf(timeOf(below))
  return { newest, oldest: dayOf(timeOf(from)) }
}

/** Entries by the day that they belong to. */
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
 * Reads day after day until there are enough. `days` are those worth reading, the newest first; behind `reached`, a day
 * that was looked at already, nobody has looked.
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
