import type { IndexStore } from './port.js'

interface ListUse {
  readonly listId: string
  count: number
}

/** How often each list was checked since the uses were last stored. */
export class ListUses {
  private uses = new Map<string, ListUse>()
  /** Mostly, the list of one check is that of the next. */
  private last: ListUse | undefined

  constructor(private readonly store: Pick<IndexStore, 'countUses'>) {}

  count(listId: string): void {
    if (listId !== this.last?.listId) {
      const before = this.uses.get(listId)
      this.last = before ?? { listId, count: 0 }
      if (before === undefined) this.uses.set(listId, this.last)
    }
    this.last!.count++
  }

  /** Saves this process's counts since the last call. */
  async save(): Promise<void> {
    const { uses } = this
    if (uses.size === 0) return
    this.uses = new Map()
    this.last = undefined
    await this.store.countUses(new Map(Array.from(uses, ([id, { count }]) => [id, count])))
  }
}
