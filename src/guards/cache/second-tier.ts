import type { Clock } from '../../core/clock.js'
import { Deadlines, monotonicMs } from '../../core/deadlines.js'
import { isCatracaError } from '../../core/errors.js'
import { every } from '../../core/timers.js'
import { Breaker } from './breaker.js'
import { PendingRemovals } from './pending-removals.js'
import type {
  CacheItem,
  CacheStore,
  FillClaim,
  FilledItem,
  FillStart,
  StoredValue,
  StoreOutcome,
} from './port.js'

/** Returned when the second tier does not answer. Callers continue without it. */
export const DOWN = Symbol('the second tier is down')
export type OrDown<R> = R | typeof DOWN

const RETRY_MS = 500
/**
 * Removing a whole space or tag takes time in proportion to its keys. Callers do not
 * wait for it; the store gets this long.
 */
const LONGEST_STEP_MS = 600_000

export const secondTierBreaker = (): Breaker => new Breaker({ failures: 3, pauseMs: 1000 })

/**
 * The time that one call of a caller has waited for the store, over all its steps. Once the store was down for a
 * step, the later steps do not ask it: they get `DOWN` at once.
 */
export class StoreTime {
  spentMs = 0
  isDown = false
}

export interface SecondTierParts {
  store: CacheStore
  /** Shared by all spaces of one store. */
  breaker: Breaker
  clock: Clock
  report: (message: string, error: unknown) => void
  /** Called before each call to the store. */
  onUse: () => void
}

/**
 * The store as one space sees it. Every call has a timeout, and a failed call returns `DOWN`. Invalidations that
 * could not be sent are sent first when the store answers again, before any other call.
 */
export class SecondTier {
  failures = 0
  skipped = 0
  private readonly pending = new PendingRemovals()
  private readonly deadlines: Deadlines
  private readonly longDeadlines = new Deadlines(LONGEST_STEP_MS)
  private telling: Promise<boolean> | undefined
  /** How many invalidations are on their way. */
  private sending = 0
  /** A caller waited for the pending invalidations until its timeout, so other callers need not wait. */
  private isFlushSlow = false
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly parts: SecondTierParts,
    private readonly space: string,
    timeoutMs: number,
  ) {
    this.deadlines = new Deadlines(timeoutMs)
  }

  get maxValueBytes(): number {
    return this.parts.store.maxValueBytes
  }

  /** Also those on their way. */
  get pendingRemovals(): number {
    return this.pending.size + this.sending
  }

  isDown(): boolean {
    return this.pending.size > 0 || this.isFlushSlow || this.parts.breaker.isOpen(this.parts.clock.now())
  }

  read(keys: readonly string[], time?: StoreTime): Promise<OrDown<readonly (StoredValue | undefined)[]>> {
    return this.ask((store, now) => store.read(this.space, keys, now), time)
  }

  begin(keys: readonly string[], claim: FillClaim, time?: StoreTime): Promise<OrDown<readonly FillStart[]>> {
    return this.ask((store, now) => store.begin(this.space, keys, claim, now), time)
  }

  /** If another program has written under the key, nothing is stored, but the caller still gets the loaded value. */
  async store(fills: readonly FilledItem[], time?: StoreTime): Promise<OrDown<readonly StoreOutcome[]>> {
    try {
      return await this.ask((store, now) => store.store(this.space, fills, now), time)
    } catch (error) {
      if (!isCatracaError(error, 'STORE_CORRUPT')) throw error
      this.parts.report(`cache ${this.space}: nothing was stored`, error)
      return DOWN
    }
  }

  renew(
    keys: readonly string[],
    token: string,
    leaseMs: number,
    time?: StoreTime,
  ): Promise<OrDown<readonly boolean[]>> {
    return this.ask((store, now) => store.renew(this.space, keys, { token, leaseMs }, now), time)
  }

  release(keys: readonly string[], token: string, time?: StoreTime): Promise<OrDown<void>> {
    return this.ask((store) => store.release(this.space, keys, token), time)
  }

  /**
   * If the value could not be written, the key must at least be removed. Otherwise other instances would keep
   * serving the earlier value.
   */
  async write(items: readonly CacheItem[]): Promise<OrDown<void>> {
    const outcome = await this.ask((store, now) => store.write(this.space, items, now))
    if (outcome === DOWN) this.pend(() => this.pending.addKeys(items.map(({ key }) => key)))
    return outcome
  }

  async remove(keys: readonly string[], time?: StoreTime): Promise<OrDown<readonly boolean[]>> {
    const outcome = await this.ask((store, now) => store.remove(this.space, keys, now), time)
    if (outcome === DOWN) this.pend(() => this.pending.addKeys(keys))
    return outcome
  }

  async expire(keys: readonly string[], keepMs: number): Promise<void> {
    const outcome = await this.ask((store, now) => store.expire(this.space, keys, keepMs, now))
    if (outcome === DOWN) this.pend(() => this.pending.addKeys(keys))
  }

  async removeTag(tag: string): Promise<void> {
    const outcome = await this.ask((store, now) => store.removeTag(this.space, tag, now))
    if (outcome === DOWN) this.pend(() => this.pending.addTag(tag))
  }

  async clear(): Promise<void> {
    const outcome = await this.ask((store, now) => store.clear(this.space, now))
    if (outcome === DOWN) this.pend(() => this.pending.addAll())
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private ask<R>(work: (store: CacheStore, now: number) => Promise<R>, time?: StoreTime): Promise<OrDown<R>> {
    if (time === undefined && !this.mustFlush) return this.tryOnce(work)
    return this.askInTime(work, time ?? new StoreTime())
  }

  private async askInTime<R>(
    work: (store: CacheStore, now: number) => Promise<R>,
    time: StoreTime,
  ): Promise<OrDown<R>> {
    const from = monotonicMs()
    const since = from - time.spentMs
    if (time.isDown || this.deadlines.isOver(since)) return DOWN
    try {
      const isReady = !this.mustFlush || (await this.isFlushed(since))
      const result = isReady ? await this.tryOnce(work, since) : DOWN
      if (result === DOWN) time.isDown = true
      return result
    } finally {
      time.spentMs += monotonicMs() - from
    }
  }

  private get mustFlush(): boolean {
    return this.pending.size > 0 || this.telling !== undefined
  }

  /** Whether all pending invalidations were sent within a caller's timeout. */
  private async isFlushed(since: number): Promise<boolean> {
    const { breaker, clock } = this.parts
    if (this.isFlushSlow || breaker.isOpen(clock.now())) return false
    const flushing = this.flushPending()
    try {
      return await this.deadlines.within(flushing, since)
    } catch (error) {
      if (isCatracaError(error, 'CLOSED')) throw error
      this.isFlushSlow = this.telling === flushing
      return false
    }
  }

  private async tryOnce<R>(
    work: (store: CacheStore, now: number) => Promise<R>,
    since?: number,
  ): Promise<OrDown<R>> {
    const { breaker, clock } = this.parts
    if (!breaker.admits(clock.now())) {
      this.skipped++
      return DOWN
    }
    return this.attempt(work, this.deadlines, since)
  }

  /** For work that no caller waits for: also while the breaker is open. Its outcome counts as that of a trial call. */
  private async tryAnyway<R>(work: (store: CacheStore, now: number) => Promise<R>): Promise<OrDown<R>> {
    this.parts.breaker.force()
    return this.attempt(work, this.deadlines)
  }

  /** Never used as the trial call of an open breaker: all other spaces would wait for it to end. */
  private async tryLong<R>(work: (store: CacheStore, now: number) => Promise<R>): Promise<OrDown<R>> {
    const { breaker, clock } = this.parts
    return breaker.isOpen(clock.now()) ? DOWN : this.attempt(work, this.longDeadlines)
  }

  private async attempt<R>(
    work: (store: CacheStore, now: number) => Promise<R>,
    deadlines: Deadlines,
    since?: number,
  ): Promise<OrDown<R>> {
    const { store, breaker, clock, report, onUse } = this.parts
    try {
      onUse()
      const result = await deadlines.within(work(store, clock.now()), since)
      breaker.succeed()
      return result
    } catch (error) {
      if (isCatracaError(error, 'STORE_CORRUPT')) {
        // The store answered. Only this key is unreadable, because another program wrote it.
        breaker.succeed()
        throw error
      }
      breaker.fail(clock.now())
      if (isCatracaError(error, 'CLOSED')) throw error
      if (this.failures++ === 0 || !breaker.isOpen(clock.now()))
        report(`cache ${this.space}: the store failed`, error)
      return DOWN
    }
  }

  private pend(add: () => void): void {
    add()
    this.timer ??= every(() => this.flushPending().catch(() => {}), RETRY_MS).unref()
  }

  private flushPending(): Promise<boolean> {
    this.telling ??= this.sendPending().finally(() => {
      this.telling = undefined
      this.sending = 0
      this.isFlushSlow = false
    })
    return this.telling
  }

  /** One that takes longer than the timeout is sent again, but it counts when it arrives. */
  private removeOwed(store: CacheStore, keys: ReadonlyMap<string, number>, now: number) {
    const removing = store.remove(this.space, [...keys.keys()], now)
    removing.then(
      () => this.pending.forgetKeys(keys),
      () => {},
    )
    return removing
  }

  private async sendPending(): Promise<boolean> {
    this.sending = this.pending.size
    const { all, keys, tags } = this.pending.take()
    let isDown = false
    if (all) {
      isDown = (await this.tryLong((store, now) => store.clear(this.space, now))) === DOWN
      if (isDown) this.pending.addAll()
    }
    if (keys.size > 0) {
      isDown ||= (await this.tryAnyway((store, now) => this.removeOwed(store, keys, now))) === DOWN
      if (isDown) this.pending.returnKeys(keys)
    }
    for (const tag of tags) {
      isDown ||= (await this.tryLong((store, now) => store.removeTag(this.space, tag, now))) === DOWN
      if (isDown) this.pending.addTag(tag)
    }
    if (this.pending.size > 0) return false
    clearInterval(this.timer)
    this.timer = undefined
    return true
  }
}
