import type { Layout } from './items.js'

/** A list of up to this many customers has this layout. */
export interface SizeStep extends Layout {
  upTo: number
}

/** The values of the source design. */
export const DEFAULT_SIZES: readonly SizeStep[] = [
  { upTo: 20_000_000, shardCount: 1, giant: false },
  { upTo: 50_000_000, shardCount: 10, giant: false },
  { upTo: 100_000_000, shardCount: 50, giant: false },
  { upTo: Number.POSITIVE_INFINITY, shardCount: 100, giant: true },
]

export function layoutFor(sizes: readonly SizeStep[], customerCount: number): Layout {
  const { shardCount, giant } = sizes.find(({ upTo }) => customerCount <= upTo) ?? sizes.at(-1)!
  return { shardCount, giant }
}
