import type { GetSeriesAnswer } from '../../api/client.js'

export type Values = readonly (number | null)[]

export interface Figures {
  /** Seconds since 1970: the end of each step. */
  times: number[]
  of(name: string): Values
  /** Mean over the last minute; undefined when nothing was measured in it. */
  lately(name: string): number | undefined
  /** The largest value of the last minute. */
  worst(name: string): number | undefined
  /** Sum over time of a rate per second. */
  total(name: string): number
}

const LATELY_SECONDS = 60

export function figuresOf({ stepSeconds, from, points }: GetSeriesAnswer): Figures {
  const start = Date.parse(from) / 1000
  const count = Math.max(0, ...Object.values(points).map((values) => values.length))
  const of = (name: string): Values => points[name] ?? Array.from({ length: count }, () => null)
  const recent = (name: string): number[] =>
    of(name)
      .slice(-Math.ceil(LATELY_SECONDS / stepSeconds))
      .filter((value) => value !== null)
  return {
    times: Array.from({ length: count }, (_, index) => start + (index + 1) * stepSeconds),
    of,
    lately: (name) => {
      const values = recent(name)
      return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length
    },
    worst: (name) => {
      const values = recent(name)
      return values.length === 0 ? undefined : Math.max(...values)
    },
    total: (name) => of(name).reduce<number>((sum, value) => sum + (value ?? 0) * stepSeconds, 0),
  }
}
