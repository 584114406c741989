import type { Clock } from '../../core/clock.js'
import { identifier } from '../../core/identifiers.js'
import { contentValue } from './content.js'
import { Counts } from './counts.js'
import { FURTHEST, refreshesEarly } from './early-refresh.js'
import { answerOf, Entries, type Finding, findingOf } from './entries.js'
import { Filler } from './filler.js'
import { type CachedEntry, type Entry, FirstTier } from './first-tier.js'
import type { SpaceParts } from './flight-endings.js'
import { Leases } from './leases.js'
import type { Work } from './loader.js'
import { checkEntry, type SpaceSettings } from './options.js'
import type { CacheNotice } from './port.js'
import { Reader } from './reader.js'
import { SecondTier, type SecondTierParts } from './second-tier.js'
import { Source } from './source.js'
import { SpaceWrites } from './space-writes.js'
import { spaceStats } from './stats.js'
import type {
  CacheAnswer,
  EntryOptions,
  FillLease,
  LeaseOptions,
  Load,
  LoadMany,
  SpaceStats,
} from './types.js'

export interface SpaceContext extends SecondTierParts {
  /** In [0, 1). */
  random: () => number
}

const NO_OPTIONS: EntryOptions = {}
const WARMED_AT_ONCE = 500
const valueIn = <T>({ content }: Finding<T>): T | undefined => contentValue(content)

/**
 * Values of one kind, in two tiers. Every caller gets the decoded value: one frozen object for all, or a copy for
 * each if it cannot be frozen (Dates, Maps, bytes).
 */
export class CacheSpace<T> {
  readonly name: string
  private readonly parts: SpaceParts<T>
  private readonly clock: Clock
  private readonly first: FirstTier<T>
  private readonly filler: Filler<T>
  private readonly writes: SpaceWrites<T>
  private readonly reader: Reader<T>
  private readonly leases: Leases<T>
  private readonly counts = new Counts()

  constructor(
    settings: SpaceSettings<T>,
    private readonly context: SpaceContext,
  ) {
    const { clock, random } = context
    this.name = settings.name
    this.clock = clock
    this.first = new FirstTier(settings.l1)
    const second = new SecondTier(context, settings.name, settings.timeoutMs)
    const entries = new Entries(settings, second.maxValueBytes, clock, random)
    const source = new Source<T>(settings, clock)
    this.parts = { settings, clock, first: this.first, second, entries, source, counts: this.counts }
    this.filler = new Filler(this.parts, (key, entry, work) => this.refreshMaybe(key, entry, work))
    this.writes = new SpaceWrites(this.parts, this.filler)
    this.reader = new Reader(this.parts)
    this.leases = new Leases(this.parts, this.reader)
  }

  /**
   * The cached value from either tier. Undefined when nothing is cached, or when the source is known to have no value.
   */
  async get(key: string): Promise<T | undefined> {
    const [answer] = await this.lookAll([identifier('key', key)], false)
    return answer?.value
  }

  /** The same with its age. Undefined when nothing is cached. */
  async look(key: string): Promise<CacheAnswer<T> | undefined> {
    const [answer] = await this.lookAll([identifier('key', key)], true)
    return answer
  }

  /** The cached values by key, in one round trip. */
  async getMany(keys: readonly string[]): Promise<Map<string, T>> {
    const answers = await this.lookAll(
      keys.map((key) => identifier('key', key)),
      false,
    )
    const values = new Map<string, T>()
    for (const [i, key] of keys.entries()) {
      const value = answers[i]?.value
      if (value !== undefined) values.set(key, value)
    }
    return values
  }

  /** The cached value, or the result of `load`, which is then cached for all pods. */
  getOrLoad(key: string, load: Load<T>, options: EntryOptions<T> = NO_OPTIONS): Promise<T | undefined> {
    const now = this.clock.now()
    const kept = this.hit(key, now)
    if (kept === undefined) return this.fetch(key, load, options).then(valueIn)
    if (this.isNearExpiry(kept, now)) this.refreshMaybe(key, kept, { load: one(load), options })
    return kept.answer ?? Promise.resolve(contentValue(kept.content))
  }

  /** The same with its age, and whether it is stale. */
  async lookOrLoad(
    key: string,
    load: Load<T>,
    options: EntryOptions<T> = NO_OPTIONS,
  ): Promise<CacheAnswer<T>> {
    const now = this.clock.now()
    const kept = this.hit(key, now)
    if (kept === undefined) return answerOf(await this.fetch(key, load, options))
    if (this.isNearExpiry(kept, now)) this.refreshMaybe(key, kept, { load: one(load), options })
    return answerOf(findingOf(kept, now))
  }

  /**
   * Loads now, even if a value is cached or another load runs, and caches the result on all pods. If the load
   * fails, the cached value stays.
   */
  async refresh(key: string, load: Load<T>, options: EntryOptions<T> = NO_OPTIONS): Promise<T | undefined> {
    checkEntry(options)
    return valueIn(await this.filler.force(identifier('key', key), { load: one(load), options }))
  }

  /** Returns cached values, and loads all missing ones in one call. By key, without keys that have no value. */
  async loadMany(
    keys: readonly string[],
    load: LoadMany<T>,
    options: EntryOptions<T> = NO_OPTIONS,
  ): Promise<Map<string, T>> {
    checkEntry(options)
    const wanted = [...new Set(keys.map((key) => identifier('key', key)))]
    const now = this.clock.now()
    const kept = new Map(wanted.map((key) => [key, this.hit(key, now)]))
    const missing = wanted.filter((key) => kept.get(key) === undefined)
    const answers = await Promise.all(this.filler.fetch(missing, { load, options }))
    const loaded = new Map(missing.map((key, i) => [key, contentValue(answers[i]!.content)]))
    const values = new Map<string, T>()
    for (const key of keys) {
      const canonical = identifier('key', key)
      const hit = kept.get(canonical)
      const value = hit === undefined ? loaded.get(canonical) : contentValue(hit.content)
      if (value !== undefined) values.set(key, value)
    }
    return values
  }

  set(key: string, value: T, options: EntryOptions<T> = NO_OPTIONS): Promise<void> {
    return this.writes.set(identifier('key', key), value, options)
  }

  /**
   * Write-through: writes the source first, then the cache. A fill that read the source earlier can no longer store its
   * value. If two saves run at once, or a write fails midway, nothing is cached rather than a doubtful value.
   */
  save(
    key: string,
    value: T,
    writeToSource: (value: T, key: string) => Promise<unknown>,
    options: EntryOptions<T> = NO_OPTIONS,
  ): Promise<void> {
    return this.writes.save(identifier('key', key), value, () => writeToSource(value, key), options)
  }

  /** Whether the second tier had the entry. If it is down, the removal is sent when it answers again. */
  async delete(key: string): Promise<boolean> {
    return (await this.deleteMany([key])) === 1
  }

  /** How many entries the second tier had. */
  deleteMany(keys: readonly string[]): Promise<number> {
    return this.writes.remove(keys.map((key) => identifier('key', key)))
  }

  /**
   * Treats the entry as if its TTL had passed, on all pods. It is loaded again, and for `staleMs` it is served if
   * that load fails or is slow.
   */
  expire(key: string): Promise<void> {
    return this.writes.expire([identifier('key', key)])
  }

  /** For callers that load the value themselves: returns the cached value, or the lease that `fill` requires. */
  async lease(key: string, options: LeaseOptions = {}): Promise<FillLease<T>> {
    const name = identifier('key', key)
    const now = this.clock.now()
    const kept = options.refresh === true ? undefined : this.hit(name, now)
    if (kept !== undefined) return { state: 'cached', ...answerOf(findingOf(kept, now)) }
    return this.leases.ask(name, options)
  }

  /**
   * False: the key was invalidated after the lease began, or the lease expired. `undefined`: the source has no value.
   */
  async fill(
    key: string,
    value: T | undefined,
    lease: string,
    options: EntryOptions<T> = NO_OPTIONS,
  ): Promise<boolean> {
    return this.leases.fill(identifier('key', key), value ?? undefined, lease, options)
  }

  /** The load failed: another caller may begin at once. */
  async release(key: string, lease: string): Promise<void> {
    await this.leases.release(identifier('key', key), lease)
  }

  deleteByTag(tag: string): Promise<void> {
    return this.writes.removeTag(identifier('tag', tag))
  }

  clear(): Promise<void> {
    return this.writes.clear()
  }

  /**
   * Brings keys into the first tier, and loads those in neither tier, in batches of 500. A failed load ends the
   * call; earlier batches stay cached.
   */
  async warm(keys: readonly string[], load?: LoadMany<T>): Promise<{ warmed: number }> {
    let warmed = 0
    for (let from = 0; from < keys.length; from += WARMED_AT_ONCE) {
      const some = keys.slice(from, from + WARMED_AT_ONCE)
      const found = load === undefined ? await this.getMany(some) : await this.loadMany(some, load)
      warmed += found.size
    }
    return { warmed }
  }

  stats(): SpaceStats {
    return spaceStats(this.parts)
  }

  /** Applies a notice about another instance's change. */
  onNotice(notice: CacheNotice): void {
    this.writes.hear(notice)
  }

  stop(): void {
    this.parts.second.stop()
  }

  /** Creates no closure, promise or object: most calls end here. */
  private hit(key: string, now: number): CachedEntry<T> | undefined {
    const { first } = this
    if (first.entries === undefined || !first.isTrusted) return undefined
    const kept = first.entries.get(key)
    if (kept === undefined || kept.useUntil <= now) return undefined
    this.counts.firstTierHits++
    if (kept.isNegative) this.counts.negatives++
    return kept
  }

  private isNearExpiry({ freshUntil }: CachedEntry<T>, now: number): boolean {
    const { settings, source } = this.parts
    return freshUntil - now < source.loadTime.ms * settings.beta * FURTHEST
  }

  private refreshMaybe(key: string, entry: Entry<T>, work: Work<T>): void {
    const { settings, source } = this.parts
    const deltaMs = source.loadTime.ms
    if (deltaMs === 0 || settings.beta === 0 || entry.freshUntil === Number.POSITIVE_INFINITY) return
    const u = 1 - this.context.random()
    if (refreshesEarly(this.clock.now(), entry.freshUntil, deltaMs, settings.beta, u)) {
      this.filler.refresh(key, entry, work)
    }
  }

  private async fetch(key: string, load: Load<T>, options: EntryOptions<T>): Promise<Finding<T>> {
    checkEntry(options)
    const name = identifier('key', key)
    const now = this.clock.now()
    const kept = name === key ? undefined : this.hit(name, now)
    if (kept !== undefined) return findingOf(kept, now)
    return this.filler.fetch([name], { load: one(load), options })[0]!
  }

  private async lookAll(
    keys: readonly string[],
    seesMarks: boolean,
  ): Promise<(CacheAnswer<T> | undefined)[]> {
    const now = this.clock.now()
    const kept = keys.map((key) => this.hit(key, now))
    const missing = keys.filter((_, i) => kept[i] === undefined)
    const found = missing.length === 0 ? new Map() : await this.reader.read(missing, seesMarks)
    return keys.map((key, i) => (kept[i] === undefined ? found.get(key) : answerOf(findingOf(kept[i], now))))
  }
}

/** Adapts a single load to `LoadMany`. */
const one =
  <T>(load: Load<T>): LoadMany<T> =>
  async ([key], context) =>
    new Map([[key!, await load(key!, context)]])
