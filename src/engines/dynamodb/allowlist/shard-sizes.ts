import { DEFAULT_DYNAMODB } from '../defaults.js'
import type { Layout } from './items.js'

/** A list of up to this many customers has this layout. */
export interface SizeStep extends Layout {
  upTo: number
}

/** The values of the source design. */
export const DEFAULT_SIZES: readonly SizeStep[] = [
  { upTo: DEFAULT_DYNAMODB.tenShardsAbove, shardCount: 1, giant: false },
  { upTo: DEFAULT_DYNAMODB.fiftyShardsAbove, shardCount: 10, giant: false },
  { upTo: DEFAULT_DYNAMODB.giantAbove, shardCount: 50, giant: false },
  { upTo: Number.POSITIVE_INFINITY, shardCount: 100, giant: true },
]

export function layoutFor(sizes: readonly SizeStep[], customerCount: number): Layout {
  const { shardCount, giant } = sizes.find(({ upTo }) => customerCount <= upTo) ?? sizes.at(-1)!
  return { shardCount, giant }
}
