import type { Item } from '../client/attributes.js'
import { itemBytes } from '../client/sizes.js'
import type { ReadFirst } from '../options.js'

/** An average over about the last twenty. */
const WEIGHT = 0.05
/** Half a read unit is a tenth of a write unit; the rest is for its latency. */
const WORTH_UNITS = 0.25
const MOST_OPERATIONS = 1000

export class ReadFirstPolicy {
  /** By operation: average write units of a claim above those of a small record. */
  private readonly wasted = new Map<string, number>()

  constructor(private readonly choice: ReadFirst) {}

  shouldRead(operation: string): boolean {
    if (this.choice !== 'auto') return this.choice === 'always'
    return (this.wasted.get(operation) ?? 0) > WORTH_UNITS
  }

  /** What a claim found: a completed record, or none. */
  met(operation: string, completed: Item | undefined): void {
    const units = completed === undefined ? 0 : Math.ceil(itemBytes(completed) / 1024) - 1
    const before = this.wasted.get(operation)
    if (before === undefined && units === 0) return
    if (before === undefined && this.wasted.size >= MOST_OPERATIONS) this.wasted.clear()
    this.wasted.set(operation, (before ?? 0) * (1 - WEIGHT) + units * WEIGHT)
  }
}
