import type { MaybePromise } from '../../../core/maybe-promise.js'
import { Coalescer, returning } from '../link/coalescer.js'
import type { Redis } from '../link/redis.js'
import type { ChangeChannel } from './change-channel.js'
import { listKeys, REGISTRY_KEY } from './keys.js'
import { listOf, type Meta, type RedisList, readMeta, sameList } from './meta.js'
import { unlessForeign } from './unreadable-keys.js'

interface CatalogOptions {
  /** Data about a list that is older than this must be read again before it is used. */
  staleAfterMs: number
}

interface Entry {
  list: RedisList | undefined
  /** When the read was sent; -Infinity: known to be outdated. */
  askedMs: number
  /** Number of change notifications. */
  told: number
  refreshing: boolean
}

const REVALIDATE_MS = 1000
const MAX_ENTRIES = 10_000

/**
 * The lists that checks use from memory. A list stays the same object until it changes. A list in use is read again
 * every second, and at once after a change notification.
 */
export class Catalog {
  private readonly entries = new Map<string, Entry>()
  private readonly byIncarnation = new Map<number, RedisList>()
  /** Incarnations of lists that this instance has ensured to be in the registry. */
  private readonly registered = new Set<number>()
  private readonly reads: Coalescer<
    string,
    undefined,
    { meta: Meta | undefined; list: RedisList | undefined }
  >
  private hits = 0
  private misses = 0

  constructor(
    private readonly redis: Redis,
    wake: ChangeChannel,
    private readonly options: CatalogOptions,
  ) {
    this.reads = new Coalescer(
      returning(async (id, askers) => {
        const found = await this.load(id)
        return askers.map(() => found)
      }),
      { maxItems: Number.POSITIVE_INFINITY },
    )
    wake.listen({ onList: (id) => this.forget(id) })
  }

  /** For checks: from memory, if that is recent enough. */
  checked(id: string): MaybePromise<RedisList | undefined> {
    const entry = this.entries.get(id)
    if (entry !== undefined) {
      const ageMs = performance.now() - entry.askedMs
      const isOld = ageMs > REVALIDATE_MS
      if (!isOld || (entry.list !== undefined && ageMs <= this.options.staleAfterMs)) {
        this.hits++
        if (isOld) this.refresh(id, entry)
        return entry.list
      }
    }
    this.misses++
    return this.read(id)
  }

  /** The list as it is now; undefined if it does not exist or is deleted. */
  async read(id: string): Promise<RedisList | undefined> {
    return (await this.reads.ask(id, undefined)).list
  }

  /** The metadata as they are now, also of a deleted list. */
  async readMeta(id: string): Promise<Meta | undefined> {
    return (await this.reads.ask(id, undefined)).meta
  }

  /** The list with this incarnation, if it was read lately. */
  known(incarnation: number): RedisList | undefined {
    return this.byIncarnation.get(incarnation)
  }

  /** Makes the next use of the list read it again. */
  forget(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.entries.get(id)
    const concerned = id === undefined ? this.entries.values() : entry === undefined ? [] : [entry]
    for (const each of concerned) {
      each.askedMs = Number.NEGATIVE_INFINITY
      each.told++
    }
  }

  cacheFigures(): { size: number; hits: number; misses: number } {
    return { size: this.entries.size, hits: this.hits, misses: this.misses }
  }

  private refresh(id: string, entry: Entry): void {
    if (entry.refreshing) return
    entry.refreshing = true
    // A failure shows when the entry has become too old to use.
    this.read(id)
      .catch(() => {})
      .finally(() => {
        entry.refreshing = false
      })
  }

  private async load(id: string): Promise<{ meta: Meta | undefined; list: RedisList | undefined }> {
    const askedMs = performance.now()
    const entry = this.entryOf(id)
    const { told } = entry
    const { meta: key } = listKeys(id)
    const meta = readMeta(
      await this.redis
        .read(key, ['HGETALL', key])
        .catch((error) => unlessForeign(error, this.redis, id, [key], ['hash'])),
    )
    const read = meta === undefined || meta.deleted !== undefined ? undefined : listOf(id, meta)
    const list = same(entry.list, read)
    if (entry.askedMs > askedMs) return { meta, list }
    this.store(id, entry, list)
    // After a change notification meanwhile, this reply may be older than the change.
    if (entry.told === told) entry.askedMs = askedMs
    return { meta, list }
  }

  private store(id: string, entry: Entry, list: RedisList | undefined): void {
    if (entry.list !== undefined && entry.list.incarnation !== list?.incarnation) {
      this.byIncarnation.delete(entry.list.incarnation)
      this.registered.delete(entry.list.incarnation)
    }
    entry.list = list
    if (list === undefined) return
    this.byIncarnation.set(list.incarnation, list)
    if (this.registered.has(list.incarnation)) return
    // The creator of the list may have died before it registered the id for good (see lists.ts).
    this.registered.add(list.incarnation)
    this.redis
      .write(REGISTRY_KEY, ['ZADD', REGISTRY_KEY, '0', id])
      .catch(() => this.registered.delete(list.incarnation))
  }

  private entryOf(id: string): Entry {
    let entry = this.entries.get(id)
    if (entry !== undefined) return entry
    // Unknown ids are cached too. Callers choose them, so their number is limited.
    if (this.entries.size >= MAX_ENTRIES) {
      this.entries.clear()
      this.byIncarnation.clear()
      this.registered.clear()
    }
    entry = { list: undefined, askedMs: Number.NEGATIVE_INFINITY, told: 0, refreshing: false }
    this.entries.set(id, entry)
    return entry
  }
}

/** The known object, if it has the same content. */
function same(known: RedisList | undefined, read: RedisList | undefined): RedisList | undefined {
  return known !== undefined && read !== undefined && sameList(known, read) ? known : read
}
