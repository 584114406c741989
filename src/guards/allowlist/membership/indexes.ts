import type { Clock } from '../../../core/clock.js'
import { every, soon } from '../../../core/timers.js'
import { Follower } from '../changes/follower.js'
import type { ChangeFeed, ListRef, Position } from '../changes/port.js'
import { readCustomerKey } from '../customer-key.js'
import { ListBuilds } from './list-builds.js'
import { ListIndex } from './list-index.js'
import { ListUses } from './list-uses.js'
import { CorruptIndex, type LoadedSnapshot, loadSnapshot, manifestKey } from './load.js'
import type { MembershipOptions } from './options.js'
import type { IndexStore, Manifest } from './port.js'
import { VerificationCache } from './verification-cache.js'

interface IndexesParts {
  index: IndexStore
  changes: ChangeFeed
  clock: Clock
  options: MembershipOptions
  /** Builds the list's snapshot, unless another process is building it. Resolves when there may be a new one. */
  build(list: ListRef, full: boolean): Promise<void>
  /** Receives errors of background work. */
  report(message: string, error: unknown): void
}

/** Figures of the images in memory. */
export interface IndexFigures {
  lists: number
  bytes: number
  overlayEntries: number
  /** Images that must not answer, because they are or may be behind. */
  staleLists: number
  /** Time since the most outdated image was last known to be complete. */
  feedLagMs: number
  /** Builds that this process requested and waited for. */
  builds: { built: number; failed: number }
  /** Time of the newest snapshot in memory, in epoch milliseconds. */
  lastBuildAt: number | undefined
}

/** What an image needs besides its snapshot. */
export interface KeptImage {
  position: Position
  generation: number | undefined
  freshAtMs: number
  /** What changed since the snapshot, as an entry of a log. */
  changes: Uint8Array | undefined
}

/** How long a list is not tried again after a failure. */
const RETRY_MS = 1000
/** How long a list is not loaded again after it was evicted. */
const DROPPED_REST_MS = 2000

/** The lists in memory: loads, follows, replaces and evicts them. */
export class Indexes {
  readonly verified: VerificationCache
  readonly uses: ListUses
  private readonly builds: ListBuilds
  private readonly loaded = new Map<number, ListIndex>()
  private readonly wanted = new Set<number>()
  private readonly loading = new Map<number, Promise<void>>()
  private readonly retryAt = new Map<number, number>()
  private readonly follower: Follower
  private readonly timer: NodeJS.Timeout
  private useCounter = 0
  /** Images that were last known to be complete before this time do not answer. */
  private staleBeforeMs = Number.NEGATIVE_INFINITY
  private closed = false

  constructor(private readonly parts: IndexesParts) {
    const { options, changes, report } = parts
    this.verified = new VerificationCache(options.verificationEntries, options.verificationTtlMs)
    this.uses = new ListUses(parts.index)
    this.builds = new ListBuilds({
      build: (list, full) => parts.build(list, full),
      onBuilt: (list) => (this.closed ? undefined : this.load(list, false)),
    })
    this.follower = new Follower(changes, options.compareIntervalMs, (error) =>
      report('following changes failed', error),
    )
    this.timer = every(() => this.compareSnapshots(), options.compareIntervalMs)
    this.timer.unref()
  }

  /** Applies what needs no waiting, and updates the staleness limit for the checks that follow. */
  sync(): void {
    const { changes, options } = this.parts
    if (changes.isImmediate) this.follower.sync()
    else this.staleBeforeMs = performance.now() - options.staleAfterMs
  }

  /**
   * The image of a list, if it is loaded, fresh, and of the same generation as the list. Otherwise a check of many
   * customers could mix results from before and after a replace.
   */
  usable(list: ListRef & { readonly generation?: number }): ListIndex | undefined {
    const index = this.loaded.get(list.incarnation)
    if (index === undefined || !index.isUsable) {
      if (index === undefined || index.isLost) this.want(list)
      return undefined
    }
    if (index.freshAtMs < this.staleBeforeMs) {
      // If the process was suspended, no read took place: read now. Failed reads are retried at intervals anyway.
      void this.follower.catchUp(index)
      return undefined
    }
    if (index.generation !== undefined && index.generation !== list.generation) {
      void this.follower.catchUp(index)
      return undefined
    }
    index.lastUsed = ++this.useCounter
    return index
  }

  countUse(listId: string): void {
    if (this.parts.options.maxBytes > 0) this.uses.count(listId)
  }

  get(incarnation: number): { index: ListIndex | undefined; building: boolean } {
    return { index: this.loaded.get(incarnation), building: this.builds.isRunning(incarnation) }
  }

  /** Whether the image may be behind the store by more than it may be. */
  isStale(index: ListIndex): boolean {
    const { changes, options } = this.parts
    if (changes.isImmediate) return !index.isUsable
    return !index.isUsable || index.freshAtMs < performance.now() - options.staleAfterMs
  }

  /** How far the image in memory may be behind the store. */
  feedLagMs(index: ListIndex): number {
    return Math.round(lagMs(index, performance.now(), this.parts.changes.isImmediate))
  }

  get sizeBytes(): number {
    let sum = 0
    for (const index of this.loaded.values()) sum += index.sizeBytes
    return sum
  }

  get listCount(): number {
    return this.loaded.size
  }

  figures(): IndexFigures {
    const { changes } = this.parts
    const nowMs = performance.now()
    let overlayEntries = 0
    let staleLists = 0
    let feedLagMs = 0
    let lastBuildAt: number | undefined
    for (const index of this.loaded.values()) {
      overlayEntries += index.overlaySize
      if (this.isStale(index)) staleLists++
      feedLagMs = Math.max(feedLagMs, lagMs(index, nowMs, changes.isImmediate))
      lastBuildAt = Math.max(lastBuildAt ?? 0, index.manifest.builtAt)
    }
    const { listCount: lists, sizeBytes: bytes } = this
    return {
      lists,
      bytes,
      overlayEntries,
      staleLists,
      feedLagMs,
      builds: { ...this.builds.counts },
      lastBuildAt,
    }
  }

  /** Ids of the lists in memory. */
  followed(): string[] {
    return Array.from(this.loaded.values(), ({ list }) => list.id)
  }

  /** Schedules the load of a list. */
  private want(list: ListRef): void {
    const { clock, options } = this.parts
    const { incarnation } = list
    if (options.maxBytes === 0 || this.wanted.has(incarnation) || this.loading.has(incarnation)) return
    if ((this.retryAt.get(incarnation) ?? 0) > clock.now()) return
    this.wanted.add(incarnation)
    // Not at once: a check is running, and loading would move the store's snapshot under it.
    soon(() => {
      this.wanted.delete(incarnation)
      if (!this.closed) void this.load(list)
    })
  }

  /** Loads the newest snapshot of a list, once for all concurrent callers. */
  load(list: ListRef, mayBuild = true): Promise<void> {
    const { incarnation } = list
    const running = this.loading.get(incarnation)
    if (running !== undefined) return running
    const { report } = this.parts
    const load = this.tryLoad(list, mayBuild)
      .catch((error: unknown) => {
        report(`loading the index of ${list.id} failed`, error)
        return false
      })
      .then((isLoaded) => {
        this.loading.delete(incarnation)
        if (isLoaded) this.retryAt.delete(incarnation)
        else this.rest(incarnation, this.parts.clock.now() + RETRY_MS)
      })
    this.loading.set(incarnation, load)
    return load
  }

  /** `mayBuild`: whether to request a build if there is nothing to load. False right after a build. */
  private async tryLoad(list: ListRef, mayBuild: boolean): Promise<boolean> {
    const { index, options, report } = this.parts
    const { incarnation } = list
    const manifest = await index.manifest(list)
    if (manifest === undefined || manifest.sizeBytes > options.maxBytes) {
      this.drop(incarnation)
      if (manifest === undefined && mayBuild) this.build(list, false)
      return false
    }
    try {
      return await this.install(list, manifest, mayBuild)
    } catch (error) {
      if (!(error instanceof CorruptIndex)) throw error
      // Another build was published meanwhile, and the pages of this one were deleted.
      if ((await index.version(list)) !== manifest.version) return this.tryLoad(list, mayBuild)
      report(`the index of ${list.id} is damaged and will be rebuilt`, error)
      this.drop(incarnation)
      if (mayBuild) this.build(list, true)
      return false
    }
  }

  private async install(list: ListRef, manifest: Manifest, mayBuild: boolean): Promise<boolean> {
    const { incarnation } = list
    const loaded = await loadSnapshot(this.parts.index, list, manifest, this.loaded.get(incarnation)?.loaded)
    const index = this.indexOf(list, manifest, loaded)
    this.follower.add(index)
    await this.follower.catchUp(index)
    const isTooFar = index.overlaySize > this.parts.options.maxOverlay
    if (index.isLost || isTooFar || this.closed) {
      this.follower.remove(index)
      this.drop(incarnation)
      if (mayBuild) this.build(list, false)
      return false
    }
    const current = this.loaded.get(incarnation)
    if (current !== undefined) this.follower.remove(current)
    // Cached verifications from the old overlay would outlive it.
    this.verified.deleteList(incarnation)
    index.lastUsed = ++this.useCounter
    this.loaded.set(incarnation, index)
    this.makeRoom(index)
    this.considerBuild(index)
    return true
  }

  private indexOf(list: ListRef, manifest: Manifest, loaded: LoadedSnapshot): ListIndex {
    const index: ListIndex = new ListIndex(list, manifest, manifestKey(manifest), loaded, manifest.position, {
      changed: ({ bytes, start, end }) => this.changed(index, readCustomerKey(bytes, start, end)),
      lost: () => this.lost(index),
    })
    return index
  }

  /** The images in memory that can be repaired, those used last first. */
  images(): ListIndex[] {
    return [...this.loaded.values()].filter(({ isLost }) => !isLost).sort((a, b) => b.lastUsed - a.lastUsed)
  }

  /**
   * Puts an image in place that another process had in memory, unless the store has brought one meanwhile. It answers
   * as last known, and for the present once it was followed from its position.
   */
  async restore(
    list: ListRef,
    manifest: Manifest,
    page: IndexStore['page'],
    image: KeptImage,
  ): Promise<void> {
    const index = this.indexOf(list, manifest, await loadSnapshot({ page }, list, manifest, undefined))
    const { position, generation, freshAtMs, changes } = image
    if (changes !== undefined) index.apply({ log: 0, sequence: 0, mark: 0, bytes: changes })
    index.position.splice(0, index.position.length, ...position)
    Object.assign(index, { generation, freshAtMs })
    if (this.closed || index.isLost || this.loaded.has(list.incarnation)) return
    index.lastUsed = ++this.useCounter
    this.loaded.set(list.incarnation, index)
    this.follower.add(index)
    this.makeRoom(index)
  }

  /** An image that cannot be repaired is useless, and must not grow further. */
  private lost(index: ListIndex): void {
    this.follower.remove(index)
    const { incarnation } = index.list
    if (this.loaded.get(incarnation) === index) this.drop(incarnation)
  }

  private changed(index: ListIndex, customerId: string): void {
    const { incarnation } = index.list
    this.verified.delete(incarnation, customerId)
    if (this.loaded.get(incarnation) === index) this.considerBuild(index)
  }

  /** Rebuilds the snapshot when it has many changes, or is old. */
  private considerBuild(index: ListIndex): void {
    const { options, clock } = this.parts
    const { overlaySize } = index
    if (overlaySize > options.maxOverlay) index.lost()
    const many = Math.max(options.rebuildAtLeast, options.rebuildShare * index.snapshot.count)
    const isOld = clock.now() - index.manifest.builtAt > options.rebuildAgeMs
    if (overlaySize > many || (isOld && overlaySize > 0)) {
      this.build(index.list, false)
    }
  }

  private build(list: ListRef, full: boolean): void {
    const { options, report } = this.parts
    if (options.build === 'off' || this.closed || this.builds.rests(list)) return
    void this.rebuild(list, full).catch((error: unknown) =>
      report(`building the index of ${list.id} failed`, error),
    )
  }

  /** Builds the list's snapshot and loads it. Joins a running build that does at least as much. */
  rebuild(list: ListRef, full: boolean): Promise<void> {
    return this.builds.start(list, full)
  }

  /** Another process may have built a snapshot: compares the loaded version with the stored one. */
  private async compareSnapshots(): Promise<void> {
    try {
      this.makeRoom(undefined)
      for (const index of [...this.loaded.values()]) {
        const version = await this.parts.index.version(index.list)
        if (this.closed) return
        if (version === undefined) this.drop(index.list.incarnation)
        else if (version !== index.manifest.version) await this.load(index.list)
        else this.considerBuild(index)
      }
    } catch (error) {
      if (!this.closed) this.parts.report('comparing snapshots failed', error)
    }
  }

  /** Evicts the least recently used lists until the rest fits. `newest` is evicted last. */
  private makeRoom(newest: ListIndex | undefined): void {
    const { options, clock } = this.parts
    while (this.sizeBytes > options.maxBytes && this.loaded.size > 0) {
      let coldest: ListIndex | undefined
      for (const index of this.loaded.values()) {
        if (index !== newest && (coldest === undefined || index.lastUsed < coldest.lastUsed)) coldest = index
      }
      const { incarnation } = (coldest ?? newest!).list
      this.drop(incarnation)
      // Two lists that compete for the same memory must not evict each other at every check.
      this.rest(incarnation, clock.now() + DROPPED_REST_MS)
    }
  }

  private drop(incarnation: number): void {
    const index = this.loaded.get(incarnation)
    if (index !== undefined) this.follower.remove(index)
    this.loaded.delete(incarnation)
    this.verified.deleteList(incarnation)
  }

  private rest(incarnation: number, until: number): void {
    // New incarnations keep appearing, so the map must be bounded.
    if (this.retryAt.size >= 10_000) this.retryAt.clear()
    this.retryAt.set(incarnation, until)
  }

  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.timer)
    this.follower.close()
    await Promise.allSettled([...this.loading.values(), this.builds.ended()])
  }
}

/**
 * If the engine reports every change at once, an image that is not behind has no lag, and no time is recorded. An
 * image that was never complete counts from the start of the process.
 */
function lagMs({ behind, freshAtMs }: ListIndex, nowMs: number, isImmediate: boolean): number {
  if (isImmediate && (!behind || freshAtMs < 0)) return 0
  return nowMs - Math.max(0, freshAtMs)
}
