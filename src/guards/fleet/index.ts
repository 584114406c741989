import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, isoTime } from '../../core/clock.js'
import { CoalescedRead } from '../../core/coalesced-read.js'
import { CatracaError } from '../../core/errors.js'
import { every, later } from '../../core/timers.js'
import { version } from '../../core/version.js'
import { type FleetRecord, type FleetStore, MAX_RECORD_BYTES } from './port.js'
import type { FleetApi, FleetOptions, FleetView, ProcessFacts } from './types.js'
import { MAX_NAME, viewOf } from './view.js'

const MINUTE_MS = 60_000
/** Rates are over the last seconds, as far as announcements allow. */
const RATE_MS = 5000
const READ_TIMEOUT_MS = 5000
const LEAVE_MS = 500
/** A view may be this share of the time between two announcements old. */
const VIEW_AGE_SHARE = 0.25

/** Counters that only grow, and what is in memory now. */
export interface ProcessFigures
  extends Pick<ProcessFacts, 'lists' | 'staleLists' | 'feedLagMs' | 'followed'> {
  /** Undefined if they are not counted. */
  checks: number | undefined
  errors: number
  degraded: number
}

/** A read that failed is shared too. */
type Found = { records: FleetRecord[] } | { error: unknown }

interface Sample {
  atMs: number
  checks: number
  errors: number
  degraded: number
}

interface FleetParts {
  /** Undefined if the engine does not offer one. */
  store: FleetStore | undefined
  engine: string
  clock: Clock
  options: FleetOptions
  figures: () => ProcessFigures
  /** Monotonic. */
  nowMs?: () => number
}

/** The processes that use this store: announces this one, and lists all. */
export class Fleet implements FleetApi {
  readonly id = randomBytes(8).toString('hex')
  private readonly startedAt: string
  private readonly reads: CoalescedRead<Found> | undefined
  private samples: Sample[] = []
  private timer: NodeJS.Timeout | undefined
  private announcing: Promise<void> | undefined
  private first: Promise<void> | undefined
  private isClosed = false

  constructor(private readonly parts: FleetParts) {
    const { store, clock, options } = parts
    this.startedAt = isoTime(clock.now())
    if (store === undefined || !options.enabled) return
    this.reads = new CoalescedRead(() =>
      store.list(clock.now()).then(
        (records) => ({ records }),
        (error: unknown) => ({ error }),
      ),
    )
    if (!options.announce) return
    this.timer = every(() => this.announce(), store.announceMs)
    this.timer.unref()
    this.first = this.announce().catch(() => {})
  }

  private get isAnnounced(): boolean {
    return this.timer !== undefined
  }

  /**
   * Failures are left to the next announcement: whoever cannot reach the store is gone for the others, and health and
   * metrics report the store itself.
   */
  async announce(): Promise<void> {
    const { store, clock } = this.parts
    if (store === undefined || !this.isAnnounced || this.announcing !== undefined || this.isClosed) return
    this.announcing = store
      .announce(this.id, this.text(), store.expireMs, clock.now())
      .catch(() => {})
      .finally(() => {
        this.announcing = undefined
      })
    await this.announcing
  }

  /** Resolves when the announcement that is under way is over. */
  async announced(): Promise<void> {
    await this.announcing
  }

  async list(): Promise<FleetView> {
    const { store, options } = this.parts
    // A process finds itself as soon as it is open.
    await this.first
    if (store === undefined)
      throw new CatracaError('STORE_UNSUPPORTED', 'this store does not know which processes use it')
    const shown = { enabled: options.enabled, expireMs: store.expireMs }
    if (this.reads === undefined) return { ...shown, ...viewOf([]) }
    const maxAgeMs = store.announceMs * VIEW_AGE_SHARE
    const found = await this.reads.read({ maxAgeMs, timeoutMs: READ_TIMEOUT_MS })
    if (!('value' in found))
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the store did not list its processes')
    if ('error' in found.value) throw found.value.error
    return { ...shown, ...(this.isAnnounced && { self: this.id }), ...viewOf(found.value.records) }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    this.isClosed = true
    if (!this.isAnnounced) return
    const leaving = this.announced().then(() => this.parts.store!.leave(this.id).catch(() => {}))
    // A store that does not answer holds up no end: the record expires by itself.
    let timer!: NodeJS.Timeout
    const late = new Promise<void>((resolve) => {
      timer = later(resolve, LEAVE_MS)
    })
    await Promise.race([leaving, late]).finally(() => clearTimeout(timer))
  }

  private text(): string {
    const { options, engine, figures, nowMs = () => performance.now() } = this.parts
    const { checks, errors, degraded, followed, ...lists } = figures()
    const now = { atMs: nowMs(), checks: checks ?? 0, errors, degraded }
    // One sample older than a minute is kept: the minute begins with it.
    const first = this.samples.findLastIndex(({ atMs }) => atMs <= now.atMs - MINUTE_MS)
    this.samples = [...this.samples.slice(Math.max(0, first)), now]
    const [minute] = this.samples as [Sample]
    const recent = this.samples.findLast(({ atMs }) => atMs <= now.atMs - RATE_MS) ?? minute
    const seconds = (now.atMs - recent.atMs) / 1000
    const perSecond = seconds > 0 ? Math.round((10 * (now.checks - recent.checks)) / seconds) / 10 : 0
    const facts: ProcessFacts = {
      name: (options.name ?? hostname()).slice(0, MAX_NAME),
      pid: process.pid,
      version,
      engine,
      startedAt: this.startedAt,
      ...lists,
      ...(checks !== undefined && { checksPerSecond: perSecond }),
      lastMinute: {
        checks: now.checks - minute.checks,
        errors: errors - minute.errors,
        degraded: degraded - minute.degraded,
      },
      followed: [],
    }
    return JSON.stringify({ ...facts, followed: fitting(followed, MAX_RECORD_BYTES - sizeOf(facts)) })
  }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** In order, so that processes leave out the same ones. */
function fitting(ids: readonly string[], bytes: number): string[] {
  let left = bytes
  return [...ids].sort().filter((id) => {
    left -= sizeOf(id) + 1
    return left > 0
  })
}
