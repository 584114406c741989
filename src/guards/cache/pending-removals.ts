const MAX_PENDING = 10_000

/** Invalidations that could not be sent to the second tier. If there are too many, the whole space is cleared. */
export class PendingRemovals {
  /** Each with the number of its last removal. */
  private keys = new Map<string, number>()
  private removals = 0
  /** All removals of keys up to this number have arrived. */
  private arrived = 0
  private tags = new Set<string>()
  private isAll = false

  get size(): number {
    return this.isAll ? 1 : this.keys.size + this.tags.size
  }

  addKeys(keys: readonly string[]): void {
    this.removals++
    for (const key of keys) this.keys.set(key, this.removals)
    if (this.size > MAX_PENDING) this.addAll()
  }

  /** Keys that were taken and did not arrive in time. An earlier attempt may have arrived meanwhile. */
  returnKeys(taken: ReadonlyMap<string, number>): void {
    for (const [key, number] of taken) {
      if (number > this.arrived && !this.keys.has(key)) this.keys.set(key, number)
    }
    if (this.size > MAX_PENDING) this.addAll()
  }

  /** Keys that were taken arrived, perhaps late. Every attempt takes all keys, so what was removed before them is sent too. */
  forgetKeys(taken: ReadonlyMap<string, number>): void {
    this.arrived = Math.max(this.arrived, ...taken.values())
    for (const [key, number] of this.keys) if (number <= this.arrived) this.keys.delete(key)
  }

  addTag(tag: string): void {
    this.tags.add(tag)
    if (this.size > MAX_PENDING) this.addAll()
  }

  addAll(): void {
    this.isAll = true
    this.keys.clear()
    this.tags.clear()
  }

  /** Returns all pending invalidations and empties the list. */
  take(): { all: boolean; keys: ReadonlyMap<string, number>; tags: readonly string[] } {
    const taken = { all: this.isAll, keys: this.keys, tags: [...this.tags] }
    this.isAll = false
    this.keys = new Map()
    this.tags = new Set()
    return taken
  }
}
