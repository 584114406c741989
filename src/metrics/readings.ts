import type { Reading } from './registry.js'

/** One value for each outcome. */
export function byOutcome(counts: Readonly<Record<string, number>>, label = 'outcome'): Reading[] {
  return Object.entries(counts).map(([outcome, count]) => [count, { [label]: outcome }])
}

/** One value for each name and outcome. */
export function byName(
  entries: Iterable<[string, Readonly<Record<string, number>>]>,
  nameLabel: string,
  outcomeLabel = 'outcome',
): Reading[] {
  return Array.from(entries).flatMap(([name, counts]) =>
    Object.entries(counts).map(
      ([outcome, count]): Reading => [count, { [nameLabel]: name, [outcomeLabel]: outcome }],
    ),
  )
}

/**
 * Drops values of 0, when most are 0. Only for metrics without an alert, because a series that starts at its first
 * event never shows an increase.
 */
export const happened = (readings: readonly Reading[]): Reading[] => readings.filter(([value]) => value > 0)
