import type { Reading } from './registry.js'

/** One value for each outcome. */
export function byOutcome(counts: Readonly<Record<string, number>>, label = 'outcome'): Reading[] {
  return Object.entries(counts).map(([outcome, count]) => [count, { [label]: outcome }])
}

/** One value for each name and outcome; what never happened is not worth a series. */
export function byName(
  entries: Iterable<[string, Readonly<Record<string, number>>]>,
  nameLabel: string,
  outcomeLabel = 'outcome',
): Reading[] {
  return Array.from(entries).flatMap(([name, counts]) =>
    Object.entries(counts).flatMap(([outcome, count]): Reading[] =>
      count === 0 ? [] : [[count, { [nameLabel]: name, [outcomeLabel]: outcome }]],
    ),
  )
}
