const MAX_PENDING = 10_000

/** Invalidations that could not be sent to the second tier. If there are too many, the whole space is cleared. */
export class PendingRemovals {
  private keys = new Set<string>()
  private tags = new Set<string>()
  private isAll = false

  get size(): number {
    return this.isAll ? 1 : this.keys.size + this.tags.size
  }

  addKeys(keys: readonly string[]): void {
    for (const key of keys) this.keys.add(key)
    if (this.size > MAX_PENDING) this.addAll()
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
  take(): { all: boolean; keys: readonly string[]; tags: readonly string[] } {
    const taken = { all: this.isAll, keys: [...this.keys], tags: [...this.tags] }
    this.isAll = false
    this.keys = new Set()
    this.tags = new Set()
    return taken
  }
}
