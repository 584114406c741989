const MAX_PENDING = 10_000

/** Invalidations that the second tier could not be told of. Too many of them become that of the whole space. */
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

  /** Everything that pends, which it then no longer does. */
  take(): { all: boolean; keys: readonly string[]; tags: readonly string[] } {
    const taken = { all: this.isAll, keys: [...this.keys], tags: [...this.tags] }
    this.isAll = false
    this.keys = new Set()
    this.tags = new Set()
    return taken
  }
}
