import { randomUUID } from 'node:crypto'
import { pause } from '../../core/abort.js'
import { CatracaError } from '../../core/errors.js'
import { answerOf, findingOf } from './entries.js'
import { FlightEndings, type SpaceParts } from './flight-endings.js'
import { checkEntry, checkLease } from './options.js'
import type { FillStart } from './port.js'
import type { Reader } from './reader.js'
import { DOWN, StoreTime } from './second-tier.js'
import type { CacheAnswer, EntryOptions, FillLease, LeaseOptions } from './types.js'

const FIRST_WAIT_MS = 10
const LONGEST_WAIT_MS = 100
/** Prefix of the lease of a forced load: its value contradicts what other instances hold. */
const FORCED = 'refresh-'

/** Fills by callers that load outside this process. They hold the lease and return the value with it. */
export class Leases<T> {
  private readonly endings: FlightEndings<T>

  constructor(
    private readonly parts: SpaceParts<T>,
    private readonly reader: Reader<T>,
  ) {
    this.endings = new FlightEndings(parts)
  }

  async ask(key: string, options: LeaseOptions): Promise<FillLease<T>> {
    checkLease(options)
    const { refresh = false, waitMs = 0, signal } = options
    const leaseMs = options.ttlMs ?? this.parts.settings.hardLoadTimeoutMs
    let time = new StoreTime()
    const cached = refresh ? undefined : (await this.reader.read([key], true, time)).get(key)
    if (cached !== undefined && !cached.stale) return { state: 'cached', ...cached }
    const giveUpAtMs = performance.now() + waitMs
    for (let pauseMs = FIRST_WAIT_MS; ; pauseMs = Math.min(LONGEST_WAIT_MS, pauseMs * 1.5)) {
      const answer = await this.begin(key, leaseMs, refresh, cached, time)
      const leftMs = giveUpAtMs - performance.now()
      if (answer.state !== 'busy' || leftMs <= 0) return answer
      time = new StoreTime()
      await pause(Math.min(pauseMs, leftMs), signal)
    }
  }

  /** False: the lease was lost, and nothing is stored. Value `undefined`: the source has no value. */
  async fill(key: string, value: T | undefined, lease: string, options: EntryOptions<T>): Promise<boolean> {
    checkEntry(options)
    const { entries, second, first, clock } = this.parts
    const { entry, item } = await entries.make(key, value, options)
    if (item === undefined) return this.forgo(key, lease)
    const pin = first.pin(key)
    try {
      const outcome = await second.store([{ ...item, token: lease, isChange: lease.startsWith(FORCED) }])
      if (outcome === DOWN) throw unavailable()
      if (outcome[0] === 'void') this.parts.counts.voidFills++
      else if (first.isTrusted) first.replace(pin, entry, clock.now())
      return outcome[0] === 'stored'
    } finally {
      first.unpin(pin)
    }
  }

  /** The load failed: another caller may begin at once. */
  async release(key: string, lease: string): Promise<void> {
    if ((await this.parts.second.release([key], lease)) === DOWN) throw unavailable()
  }

  private async begin(
    key: string,
    leaseMs: number,
    refresh: boolean,
    stale: CacheAnswer<T> | undefined,
    time: StoreTime,
  ): Promise<FillLease<T>> {
    const { second, settings, clock } = this.parts
    const lease = `${refresh ? FORCED : ''}${randomUUID()}`
    const askedAt = clock.now()
    const freshAboveMs = refresh ? Number.POSITIVE_INFINITY : settings.staleMs
    const claim = { token: lease, leaseMs, freshAboveMs, takeOver: refresh }
    const starts = await second.begin([key], claim, time)
    if (starts === DOWN) throw unavailable()
    const start = starts[0] as FillStart
    if (start.state === 'found') {
      const entry = await this.endings.decoded(key, start.entry, askedAt, time)
      // An unreadable entry was deleted, so the next attempt finds none.
      if (entry === undefined) return this.begin(key, leaseMs, refresh, undefined, time)
      return { state: 'cached', ...answerOf(findingOf(entry, clock.now())) }
    }
    if (start.state === 'filling')
      return { state: 'yours', lease, expiresAt: new Date(askedAt + leaseMs), ...(stale && { stale }) }
    return stale === undefined ? { state: 'busy', retryAfterMs: start.leftMs } : { state: 'cached', ...stale }
  }

  /** Stores nothing and removes the earlier entry, which the source has just contradicted. */
  private async forgo(key: string, lease: string): Promise<boolean> {
    const { second, first, settings } = this.parts
    const time = new StoreTime()
    const renewed = await second.renew([key], lease, settings.leaseMs, time)
    if (renewed === DOWN) throw unavailable()
    if (renewed[0] !== true) return false
    await second.remove([key], time)
    first.drop(key)
    return true
  }
}

const unavailable = (): CatracaError =>
  new CatracaError('ENGINE_UNAVAILABLE', 'the store of the cache did not answer: load without it')
