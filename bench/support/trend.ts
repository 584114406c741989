export interface Point {
  seconds: number
  value: number
}

interface Trend {
  mean: number
  /** What an hour adds, by least squares. */
  perHour: number
  /** What the time that was looked at added, as a share of the mean. */
  share: number
}

export function trendOf(points: readonly Point[]): Trend {
  const mean = (of: (point: Point) => number) => points.reduce((sum, one) => sum + of(one), 0) / points.length
  const seconds = mean((point) => point.seconds)
  const value = mean((point) => point.value)
  const covariance = mean((point) => (point.seconds - seconds) * (point.value - value))
  const variance = mean((point) => (point.seconds - seconds) ** 2)
  const slope = variance === 0 ? 0 : covariance / variance
  const spanSeconds = (points.at(-1)?.seconds ?? 0) - (points[0]?.seconds ?? 0)
  return { mean: value, perHour: slope * 3600, share: value === 0 ? 0 : (slope * spanSeconds) / value }
}
