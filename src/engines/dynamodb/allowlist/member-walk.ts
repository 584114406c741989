import type { Place } from './items.js'
import { shardPlace } from './items.js'
import { type FoundRow, MemberReads } from './member-reads.js'
import type { StoredList } from './meta.js'
import type { Store } from './store.js'

const VERB = 'allowlist.upkeep'
const PAGE = 500
const PAGES_PER_STEP = 10

/** Walks over all members of lists for upkeep, some pages a step. */
export class MemberWalk {
  private readonly reads: MemberReads
  /** How far each walk has come. After a restart it begins again. */
  private readonly positions = new Map<string, { shard: number; behind: string | undefined }>()

  constructor(store: Store) {
    this.reads = new MemberReads(store)
  }

  /** Passes the next pages of a list to `visit`; true at its end. `name` distinguishes the walks of a list. */
  async step(
    list: StoredList,
    name: string,
    visit: (page: FoundRow[], place: Place) => Promise<void>,
  ): Promise<boolean> {
    const { shard, behind } = this.positions.get(name) ?? { shard: 0, behind: undefined }
    const place = shardPlace(list.id, list, shard)
    let pages = 0
    let reached: string | undefined
    for await (const page of this.reads.pages(VERB, place, { behind, pageSize: PAGE })) {
      await visit(page, place)
      reached = page.at(-1)?.customerId ?? reached
      if (++pages >= PAGES_PER_STEP && reached !== undefined) {
        this.positions.set(name, { shard, behind: reached })
        return false
      }
    }
    this.positions.set(name, { shard: shard + 1, behind: undefined })
    if (shard + 1 < list.shardCount) return false
    this.positions.delete(name)
    return true
  }
}
