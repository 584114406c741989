import { serverNow } from '../api/server-clock.js'

/** Numbers and times in the user's language and zone. */
export interface Format {
  number(value: number, digits?: number): string
  /** Of something per second, with as many digits as matter: 0.025, 1.25, 12.5, 1,250. */
  rate(value: number): string
  percent(share: number, digits?: number): string
  /** Decimal separator. */
  decimalMark: string
  bytes(value: number): string
  dateTime(value: string | number): string
  /** Hours, minutes and seconds. */
  clock(value: string | number): string
  hourMinute(value: string | number): string
  /** The UTC day: 15 Nov. */
  dayUtc(value: string | number): string
  /** As "3 minutes ago". */
  ago(value: string | number, nowMs?: number): string
  /** Formats microseconds as µs, ms or s. */
  microseconds(value: number): string
  /** Formats milliseconds as seconds, minutes, hours or days: "42 s", "4 min". */
  duration(ms: number): string
  /** Formats seconds: "2 d 3 h", "4 min". */
  uptime(seconds: number): string
}

const AGO_UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

export function makeFormat(language: string): Format {
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const clock = new Intl.DateTimeFormat(language, { timeStyle: 'medium' })
  const hourMinute = new Intl.DateTimeFormat(language, { timeStyle: 'short' })
  const dayUtc = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const number = (value: number, digits = 0): string =>
    new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value)
  return {
    number,
    rate: (value) =>
      value < 100
        ? new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(value)
        : number(value),
    decimalMark: number(0.5, 1).charAt(1),
    percent: (share, digits = 1) =>
      new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: digits }).format(share),
    bytes: (value) => {
      const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
      const unit = BYTE_UNITS[power]!
      const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
      return new Intl.NumberFormat(language, options).format(value / 1000 ** power)
    },
    dateTime: (value) => dateTime.format(new Date(value)),
    clock: (value) => clock.format(new Date(value)),
    hourMinute: (value) => hourMinute.format(new Date(value)),
    dayUtc: (value) => dayUtc.format(new Date(value)),
    ago: (value, nowMs = serverNow()) => {
      const seconds = (new Date(value).getTime() - nowMs) / 1000
      const [unit, size] = AGO_UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
      return relative.format(Math.round(seconds / size), unit)
    },
    microseconds: (value) => {
      if (value < 1_000) return `${number(value, value < 10 ? 1 : 0)} µs`
      if (value < 1_000_000) return `${number(value / 1_000, 2)} ms`
      return `${number(value / 1_000_000, 2)} s`
    },
    duration: (ms) => (ms < 60_000 ? `${number(ms / 1000, ms < 10_000 ? 1 : 0)} s` : uptime(ms / 1000)),
    uptime,
  }

  function uptime(seconds: number): string {
    const days = Math.floor(seconds / 86_400)
    const hours = Math.floor((seconds % 86_400) / 3_600)
    const minutes = Math.floor((seconds % 3_600) / 60)
    if (days > 0) return `${number(days)} d ${hours} h`
    return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`
  }
}
