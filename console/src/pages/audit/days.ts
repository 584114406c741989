import { serverNow } from '../../api/server-clock.js'

/** Choices of a time without typing one. */
export const DAYS = ['today', 'yesterday', 'week', 'month'] as const
export type Day = (typeof DAYS)[number]

const BACK: Record<Day, number> = { today: 0, yesterday: 1, week: 6, month: 29 }

/** Midnight of the user's zone, so many days ago. */
function midnight(daysAgo: number): Date {
  const at = new Date(serverNow())
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() - daysAgo)
  return at
}

export function rangeOf(day: Day): { from: string; to: string } {
  return {
    from: midnight(BACK[day]).toISOString(),
    to: day === 'yesterday' ? midnight(0).toISOString() : '',
  }
}

/** The choice that has this range; 'other' when none has. */
export function dayOf(from: string, to: string): Day | 'other' | '' {
  if (from === '' && to === '') return ''
  return (
    DAYS.find((day) => {
      const range = rangeOf(day)
      return range.from === from && range.to === to
    }) ?? 'other'
  )
}

/** A time of an address, as `datetime-local` fields want it: in the user's zone, to the minute. */
export function toLocal(text: string): string {
  const at = new Date(text)
  if (text === '' || Number.isNaN(at.getTime())) return text
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Text that is not a time is passed on, and the server refuses it. */
export function toIso(local: string): string {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? local : at.toISOString()
}
