import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import type { Item } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import type { StoreSettings } from '../options.js'
import { metaKey } from './items.js'
import { decodeMeta, digestOf, type KnownList, listOf, type StoredList } from './meta.js'
import type { WriteState } from './tokens.js'

interface Entry {
  /** Undefined: there is no such list. */
  stored: StoredList | undefined
  /** The same object until the list changes, so that derived data can be keyed by it. */
  known: KnownList | undefined
  signature: string
  /** When the read was sent. */
  askedAtMs: number
  /** Not read again in the background before this time. */
  restsUntilMs: number
  /** The list was changed since. */
  isVoid: boolean
}

/** What another process has read: a list as of some time ago. */
interface SharedLists {
  list(id: string, maxAgeMs: number): Promise<{ digest: string; ageMs: number } | undefined>
}

const VERB = 'allowlist.meta'
const ABSENT_FOR_MS = 1000

/** Cached lists. Checks read them here; for a list in use they wait for nothing. */
export class Catalog {
  private readonly entries = new Map<string, Entry>()
  private readonly reading = new Map<string, Promise<KnownList | undefined>>()
  private hits = 0
  private misses = 0
  /** Called for every list of another program. */
  onForeign: (list: StoredList) => void = () => {}
  /** Absent if every process reads for itself. */
  shared: SharedLists | undefined

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
    private readonly settings: StoreSettings,
    /** A monotonic clock in milliseconds. */
    private readonly elapsedMs: () => number = () => performance.now(),
  ) {}

  /** For checks: from memory, if it is fresh enough. */
  known(id: string): MaybePromise<KnownList | undefined> {
    const entry = this.entries.get(id)
    if (entry !== undefined && !entry.isVoid) {
      const ageMs = this.elapsedMs() - entry.askedAtMs
      const { revalidateAfterMs, staleAfterMs } = this.settings
      if (ageMs <= (entry.known === undefined ? ABSENT_FOR_MS : staleAfterMs)) {
        this.hits++
        // A failure shows when the entry has become stale.
        if (ageMs > revalidateAfterMs && this.elapsedMs() >= entry.restsUntilMs) {
          this.revalidate(id).catch(() => {})
        }
        return entry.known
      }
    }
    this.misses++
    return this.revalidate(id)
  }

  /** For checks that must see a write which was made in this state of its list. */
  knownSince(
    id: string,
    { incarnation, generation, layout }: Omit<WriteState, 'id'>,
  ): MaybePromise<KnownList | undefined> {
    const known = this.known(id)
    // That read may be older than the write. Nobody waits for it, so its failure must not end the process.
    if (isPromise(known)) known.catch(() => {})
    else if (known?.incarnation === incarnation) {
      if (known.generation >= generation && known.layout >= layout) return known
    }
    return this.knownNow(id)
  }

  /** Reads the current list. */
  async knownNow(id: string): Promise<KnownList | undefined> {
    const stored = await this.read(id)
    return stored && this.same(id, listOf(stored))
  }

  /** The current list with its counts; undefined if it is being deleted. */
  async read(id: string): Promise<StoredList | undefined> {
    const stored = await this.readAny(id)
    return stored?.deletedAt === undefined ? stored : undefined
  }

  /** Also a list that is being deleted. */
  async readAny(id: string): Promise<StoredList | undefined> {
    return this.ask(id, true)
  }

  /** For writes, whose condition detects an outdated list. Counts may be old. */
  async recent(id: string, maxAgeMs = this.settings.staleAfterMs): Promise<StoredList | undefined> {
    const entry = this.entries.get(id)
    const isUsable =
      entry?.known !== undefined && !entry.isVoid && this.elapsedMs() - entry.askedAtMs <= maxAgeMs
    return isUsable ? entry.stored : this.read(id)
  }

  /** Stores the META item that a refused write, or another read, has returned. */
  learned(id: string, item: Item | undefined): StoredList | undefined {
    const stored = item === undefined ? undefined : decodeMeta(item)
    this.keep(id, stored, this.elapsedMs())
    return stored?.deletedAt === undefined ? stored : undefined
  }

  /** The list was changed: it is read again before its next use. */
  forget(id: string): void {
    const entry = this.entries.get(id)
    // A response in flight may be older than the change.
    const askedAtMs = this.elapsedMs()
    const nothing = { stored: undefined, known: undefined, signature: '' }
    this.entries.set(id, { ...(entry ?? nothing), askedAtMs, restsUntilMs: 0, isVoid: true })
    this.reading.delete(id)
  }

  /** The list as checks see it, with what they do not need. May be as old as theirs. */
  async kept(id: string): Promise<StoredList | undefined> {
    await this.known(id)
    return this.entries.get(id)?.stored
  }

  figures(): { size: number; hits: number; misses: number } {
    return { size: this.entries.size, hits: this.hits, misses: this.misses }
  }

  private revalidate(id: string): Promise<KnownList | undefined> {
    let reading = this.reading.get(id)
    if (reading === undefined) {
      // The first read is consistent: there is nothing to compare an outdated replica with.
      const entry = this.entries.get(id)
      const isFirst = entry?.known === undefined || entry.isVoid
      const asked = isFirst ? this.ask(id, true) : this.refreshed(id, entry)
      reading = asked
        .then((stored) => (isThere(stored) ? this.same(id, listOf(stored)) : undefined))
        .finally(() => this.reading.get(id) === reading && this.reading.delete(id))
      this.reading.set(id, reading)
    }
    return reading
  }

  /** An entry that another process found unchanged need not be read. */
  private async refreshed(id: string, entry: Entry): Promise<StoredList | undefined> {
    const { revalidateAfterMs, staleAfterMs } = this.settings
    const seen = await this.shared?.list(id, 0.9 * revalidateAfterMs)
    const isSame = seen !== undefined && seen.digest === digestOf(entry.stored!)
    const atMs = isSame ? Math.max(entry.askedAtMs, this.elapsedMs() - seen.ageMs) : Number.NEGATIVE_INFINITY
    const isFresh = this.elapsedMs() - atMs <= 0.9 * staleAfterMs
    if (!isFresh || entry.isVoid || this.entries.get(id) !== entry) return this.ask(id, false)
    entry.askedAtMs = atMs
    entry.restsUntilMs = this.elapsedMs() + revalidateAfterMs / 2
    return entry.stored
  }

  /** The known object, if it has the same content. */
  private same(id: string, known: KnownList): KnownList {
    const entry = this.entries.get(id)
    return entry?.known !== undefined && entry.signature === JSON.stringify(known) ? entry.known : known
  }

  private async ask(id: string, consistent: boolean): Promise<StoredList | undefined> {
    const askedAtMs = this.elapsedMs()
    const item = await this.client.getItem(VERB, {
      TableName: this.table,
      Key: metaKey(id),
      ConsistentRead: consistent,
    })
    const stored = item === undefined ? undefined : decodeMeta(item)
    if (!consistent && !follows(this.entries.get(id)?.stored, stored)) return this.ask(id, true)
    this.keep(id, stored, askedAtMs)
    return stored
  }

  private keep(id: string, stored: StoredList | undefined, askedAtMs: number): void {
    const before = this.entries.get(id)
    if (before !== undefined && before.askedAtMs > askedAtMs) return
    const known = isThere(stored) ? this.same(id, listOf(stored)) : undefined
    // Callers choose ids, so the number of cached lists is limited.
    if (before === undefined && this.entries.size >= this.settings.maxCachedLists) {
      this.entries.delete(this.entries.keys().next().value!)
    }
    const signature = known === undefined ? '' : JSON.stringify(known)
    this.entries.set(id, { stored, known, signature, askedAtMs, restsUntilMs: 0, isVoid: false })
    if (isThere(stored) && stored.foreign !== undefined) this.onForeign(stored)
  }
}

const isThere = (stored: StoredList | undefined): stored is StoredList =>
  stored !== undefined && stored.deletedAt === undefined

/** Whether the answer of a replica can be newer than the known list. */
function follows(before: StoredList | undefined, after: StoredList | undefined): boolean {
  if (before === undefined) return true
  return (
    after !== undefined &&
    after.incarnation === before.incarnation &&
    after.version >= before.version &&
    after.generation >= before.generation &&
    after.layout >= before.layout
  )
}
