/** Converts times between a time zone and the format of `datetime-local` inputs (`2026-01-31T09:00`). */

const MINUTE_MS = 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    formats.set(zone, format)
  }
  return format
}

/** The offset of the zone from UTC at that time. */
function offsetMs(zone: string, at: number): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const { year, month, day, hour, minute, second } = parts
  const wall = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  return wall - Math.floor(at / 1000) * 1000
}

export function toInput(at: number, zone: string): string {
  return new Date(at + offsetMs(zone, at)).toISOString().slice(0, at % MINUTE_MS === 0 ? 16 : 19)
}

/**
 * Undefined for text that is not a time. An hour that occurs twice means the first one; an hour that clocks skip is
 * taken as if they did not.
 */
export function fromInput(text: string, zone: string): number | undefined {
  const wall = Date.parse(`${text}Z`)
  if (!/^[1-9]\d{3}-/.test(text) || Number.isNaN(wall)) return undefined
  const before = offsetMs(zone, wall - 24 * 60 * MINUTE_MS)
  const first = wall - before
  if (offsetMs(zone, first) === before) return first
  const second = wall - offsetMs(zone, first)
  return offsetMs(zone, second) === wall - second ? second : first
}

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export function allZones(): string[] {
  const known = Intl.supportedValuesOf('timeZone')
  return [...new Set(['UTC', localZone(), ...known])].toSorted()
}
