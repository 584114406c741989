import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../core/clock.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { type ListedPage, type ListingQuery, listedPage, parseListing } from '../../core/listing.js'
import type { CacheApi } from './api.js'
import type { Codec } from './codec.js'
import { type NeededCodec, type SpaceOptions, spaceSettings } from './options.js'
import type { CacheNotice, CacheStore } from './port.js'
import { secondTierBreaker } from './second-tier.js'
import { CacheSpace } from './space.js'
import type { CacheAnswer, FillLease, LeaseOptions, ListedEntryView, SpaceStats } from './types.js'

export interface CachesOptions {
  store: CacheStore
  clock: Clock
  report: (message: string, error: unknown) => void
  /** In [0, 1). */
  random?: () => number
  /** Default timeout for spaces that set none. */
  timeoutMs?: number
  /** The configured spaces, which the HTTP API and the CLI reach by name. */
  spaces?: readonly SpaceOptions[]
}

/** All cache spaces of one store. */
export class Caches implements CacheApi {
  private readonly spaces = new Map<string, { options: SpaceOptions; space: CacheSpace<unknown> }>()
  private readonly named: ReadonlySet<string>
  private readonly breaker = secondTierBreaker()
  private unwatch: (() => void) | undefined
  private isLost = false

  constructor(private readonly options: CachesOptions) {
    const { spaces = [] } = options
    if (!Array.isArray(spaces)) throw invalid('cache.spaces', 'must be a list of spaces')
    this.named = new Set(spaces.map((space) => this.space(space).name))
  }

  /**
   * Returns a space, opened at first use. The same name always means the same space and needs the same options. A name
   * alone means a space of the configuration.
   */
  space<T = unknown>(options: SpaceOptions<T> & { codec: Codec<T> }): CacheSpace<T>
  space<T = unknown>(options: (SpaceOptions<T> & NeededCodec<T>) | string): CacheSpace<T>
  space<T>(options: SpaceOptions<T> | string): CacheSpace<T> {
    if (typeof options === 'string') return this.spaceNamed(options) as unknown as CacheSpace<T>
    const { timeoutMs } = this.options
    const settings = spaceSettings({ ...(timeoutMs !== undefined && { timeoutMs }), ...options })
    const known = this.spaces.get(settings.name)
    if (known !== undefined) {
      if (!isDeepStrictEqual(known.options, options)) {
        throw invalid('name', `${settings.name} is open with other options`)
      }
      return known.space as unknown as CacheSpace<T>
    }
    this.refuseOverlap(settings.name)
    const { store, clock, report, random = Math.random } = this.options
    const { breaker } = this
    const onUse = () => this.watch()
    const space = new CacheSpace(settings, { store, clock, report, random, breaker, onUse })
    if (this.isLost) space.onNotice({ kind: 'lost' })
    this.spaces.set(settings.name, {
      options: options as SpaceOptions,
      space: space as unknown as CacheSpace<unknown>,
    })
    return space
  }

  async get(space: string, key: string): Promise<CacheAnswer<unknown> | undefined> {
    return this.spaceNamed(space).look(key)
  }

  async set(space: string, key: string, value: unknown, options: { ttlMs?: number } = {}): Promise<void> {
    await this.spaceNamed(space).set(key, value, options)
  }

  async lease(space: string, key: string, options: LeaseOptions = {}): Promise<FillLease<unknown>> {
    return this.spaceNamed(space).lease(key, options)
  }

  async fill(
    space: string,
    key: string,
    value: unknown,
    { lease, ...options }: { lease: string; ttlMs?: number },
  ): Promise<void> {
    if (await this.spaceNamed(space).fill(key, value ?? undefined, lease, options)) return
    throw new CatracaError('CACHE_LEASE_LOST', `the lease on ${key} in ${space} was lost: nothing was stored`)
  }

  async release(space: string, key: string, lease: string): Promise<void> {
    await this.spaceNamed(space).release(key, lease)
  }

  async expire(space: string, key: string): Promise<void> {
    await this.spaceNamed(space).expire(key)
  }

  async delete(space: string, key: string): Promise<boolean> {
    return this.spaceNamed(space).delete(key)
  }

  async list(space: string, query: ListingQuery = {}): Promise<ListedPage<ListedEntryView>> {
    const { name } = this.spaceNamed(space)
    const { store, clock } = this.options
    const { items, next } = await store.list(name, parseListing(query), clock.now())
    const entries = items.map(({ key, leftMs, ageMs, sizeBytes }) => ({
      key,
      ...(ageMs !== undefined && { ageMs: Math.round(ageMs) }),
      ...(Number.isFinite(leftMs) && { leftMs: Math.round(leftMs) }),
      ...(sizeBytes !== undefined && { sizeBytes }),
    }))
    return listedPage(entries, next)
  }

  async stats(): Promise<Record<string, SpaceStats>> {
    return this.figures()
  }

  /** Like `stats`, without a promise. */
  figures(): Record<string, SpaceStats> {
    return Object.fromEntries([...this.spaces].map(([name, { space }]) => [name, space.stats()]))
  }

  sweep(now: number): Promise<{ more: boolean }> {
    return this.options.store.sweep(now)
  }

  close(): void {
    this.unwatch?.()
    for (const { space } of this.spaces.values()) space.stop()
  }

  private spaceNamed(name: string): CacheSpace<unknown> {
    const space = this.named.has(name) ? this.spaces.get(name)?.space : undefined
    if (space === undefined) {
      throw new CatracaError('CACHE_SPACE_NOT_FOUND', `the configuration has no cache space ${name}`)
    }
    return space
  }

  /** Keys in the store begin with the space name, so a key of one space must not be a key of another. */
  private refuseOverlap(name: string): void {
    for (const other of this.spaces.keys()) {
      if (name.startsWith(`${other}:`) || other.startsWith(`${name}:`)) {
        throw invalid('name', `${name} overlaps ${other}: a key of one would be a key of the other`)
      }
    }
  }

  /**
   * Called at the first use of the store. Before that, memory holds nothing that another instance could have changed.
   */
  private watch(): void {
    if (this.unwatch !== undefined) return
    try {
      this.unwatch = this.options.store.watch((notice) => this.onNotice(notice))
    } catch (error) {
      if (isCatracaError(error, 'STORE_UNSUPPORTED')) throw error
      // Of a store that cannot even be watched the first tiers are not believed.
      if (!this.isLost) this.options.report('cache: changes by other processes cannot be read', error)
      this.onNotice({ kind: 'lost' })
    }
  }

  private onNotice(notice: CacheNotice): void {
    if (notice.kind === 'lost' || notice.kind === 'resumed') {
      this.isLost = notice.kind === 'lost'
      for (const { space } of this.spaces.values()) space.onNotice(notice)
    } else this.spaces.get(notice.space)?.space.onNotice(notice)
  }
}
