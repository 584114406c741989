import { redactStoreUrl } from '../config/store-url.js'
import { type Clock, systemClock } from '../core/clock.js'
import type { Bounds } from '../core/coalesced-read.js'
import { DEFAULT_MAX_SERIES } from '../core/figures.js'
import { ApiKeys } from '../guards/access/index.js'
import { CheckFigures } from '../guards/allowlist/check-figures.js'
import type { CheckCounts } from '../guards/allowlist/membership/indexed-checks.js'
import type { IndexFigures } from '../guards/allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP, type MembershipOptions } from '../guards/allowlist/membership/options.js'
import type { OnUnavailable } from '../guards/allowlist/types.js'
import { Caches, type CachesOptions } from '../guards/cache/index.js'
import { Idempotency } from '../guards/idempotency/index.js'
import { type IdempotencyOptions, idempotencyOptions } from '../guards/idempotency/options.js'
import { RateLimits } from '../guards/rate-limit/index.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../guards/rate-limit/options.js'
import { TokenDenylist } from '../guards/token-denylist/index.js'
import { DEFAULT_TOKENS, type TokenOptions } from '../guards/token-denylist/types.js'
import type { Guards } from './checked-calls.js'
import { decoratedGuards } from './decorated-guards.js'
import { EngineCalls } from './engine-calls.js'
import { EngineFiguresReader } from './engine-figures.js'
import { type Health, HealthReads } from './health.js'
import { openHotTier } from './hot-tier.js'
import { type ImportOptions, openAllowlists, type Stats } from './open-allowlists.js'
import { type OpenCodesOptions, openCodes } from './open-codes.js'
import { type EngineOptions, engineSource } from './open-engine.js'
import { OPEN_FIELDS } from './open-fields.js'
import { type OpenLocksOptions, openLocks } from './open-locks.js'
import { auditOptions, type OpenAuditOptions, openAudit } from './record-audit.js'
import { Stores } from './stores.js'
import { Tracing } from './tracing.js'
import { Upkeep } from './upkeep.js'

export interface OpenOptions extends EngineOptions {
  /** A store URL such as `embedded:./catraca-data` (the default) or `memory:`. */
  store?: string
  clock?: Clock
  /** How often to delete expired data. 0: only when `upkeep()` is called. */
  sweepIntervalMs?: number
  membership?: Partial<MembershipOptions>
  limits?: InStore<LimitOptions>
  idempotency?: InStore<IdempotencyOptions>
  codes?: OpenCodesOptions
  tokens?: OpenTokensOptions
  locks?: OpenLocksOptions
  cache?: InStore<Pick<CachesOptions, 'timeoutMs' | 'spaces'>>
  metrics?: MetricsOptions
  audit?: OpenAuditOptions
  /**
   * What a check returns when neither memory nor the store can answer: an error
   * (default), or allowed, marked as degraded.
   */
  onUnavailable?: OnUnavailable
  tracing?: {
    /** Whether to make spans if the host has registered an OpenTelemetry provider. Default: true. */
    enabled?: boolean
  }
  /** Receives failures of background work, which has no caller. */
  onReport?: (message: string, error: unknown) => void
  import?: ImportOptions
}

/** Options of a guard that may be in another store than the rest. */
export type InStore<Options> = Partial<Options> & {
  /** A store URL, if the data of this guard is in another store than the rest. */
  store?: string
}

export type OpenTokensOptions = InStore<TokenOptions>

export interface MetricsOptions {
  /** Whether guards and engines count what they do. Default: true. */
  enabled?: boolean
  /** How many lists, resources and spaces (each) get their own counters. Further ones count as `other`. */
  maxSeries?: number
}

/** All guards over their engines. */
export interface Catraca extends Guards {
  /** Where the data is, without credentials. */
  readonly store: string
  /** Resolves when the most used lists are in memory. */
  readonly ready: Promise<void>
  stats(): Stats
  /** Live counts of how checks were answered. Costs nothing, unlike `stats`. */
  readonly checkCounts: Readonly<CheckCounts>
  /** How many lists, resources and cache spaces (each) metrics show separately. */
  readonly maxSeries: number
  /** Figures of the lists in memory. */
  indexFigures(): IndexFigures
  /** Figures of the engines, and of the calls to them. */
  readonly engineFigures: EngineFiguresReader
  /** Health of every engine. Each is queried at most once a second; `bounds` limits the wait. */
  health(bounds?: Partial<Bounds>): Promise<Health>
  /** Spans, if the host collects them. */
  readonly tracing: Tracing
  /** Deletes all expired data now. A running instance does this in the background. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

const DEFAULT_STORE = 'embedded:./catraca-data'
const DEFAULT_SWEEP_INTERVAL_MS = 10_000

export async function openCatraca(options: OpenOptions = {}): Promise<Catraca> {
  OPEN_FIELDS.check(options)
  const store = options.store ?? DEFAULT_STORE
  const clock = options.clock ?? systemClock
  const report = options.onReport ?? (() => {})
  const { enabled: isCounting = true, maxSeries = DEFAULT_MAX_SERIES } = options.metrics ?? {}
  const sweepIntervalMs = options.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS
  const dynamodb = { report, ...options.dynamodb }
  const membership = { ...DEFAULT_MEMBERSHIP, ...options.membership }
  const isBare = [options.idempotency?.naming, options.redis?.idempotencyNaming].includes('bare')
  const naming = isBare ? 'bare' : 'operation'
  const redis = {
    // A list's record may be as far behind as its image in memory.
    staleAfterMs: membership.staleAfterMs,
    ...options.redis,
    idempotencyNaming: naming,
  } as const
  // Before anything is opened that would have to be closed again.
  const recording = auditOptions(options.audit)
  const records = idempotencyOptions({ ...options.idempotency, naming })
  const tracing = new Tracing(options.tracing?.enabled ?? true)
  await tracing.look()
  const calls = new EngineCalls()
  const sourceOf = (url: string) => engineSource(url, { ...options, dynamodb, redis })
  const isWatched = isCounting || tracing.spans !== undefined
  const stores = await Stores.open(store, sourceOf, report, isWatched ? { calls, tracing } : undefined)
  const closing = async (error: unknown): Promise<never> => {
    await stores.close()
    throw error
  }
  const engine = await stores.engineOf(undefined)
  const engineOf = (of: { store?: string } | undefined) => stores.engineOf(of?.store).catch(closing)
  const hotTier = await openHotTier(dynamodb.hotTier, { engine, membership, report }).catch(closing)
  const around = { clock, report }
  const limitEngine = await engineOf(options.limits)
  const limits = new RateLimits({
    ...{ ...around, maxSeries, engine: limitEngine.limits },
    options: { ...DEFAULT_LIMITS, ...options.limits },
  })
  const idempotency = new Idempotency({
    ...{ ...around, store: (await engineOf(options.idempotency)).idempotency },
    options: records,
  })
  const codeEngine = await engineOf(options.codes)
  const codes = await Promise.resolve()
    .then(() => openCodes(options.codes ?? {}, codeEngine, { ...around, limits: limitEngine }))
    .catch(closing)
  const tokens = new TokenDenylist({
    ...{ ...around, store: (await engineOf(options.tokens)).tokens },
    options: { ...DEFAULT_TOKENS, ...options.tokens },
  })
  const openedLocks = await openLocks(options.locks ?? {}, () => engineOf(options.locks), {
    ...around,
    redis: options.redis,
  }).catch(closing)
  const { locks } = openedLocks
  const auditEngine = await engineOf(options.audit)
  // If guards use several stores, the slowest one determines how long a change may take.
  const changeTimeoutMs = Math.max(...stores.open.map((open) => open.engine.writeTimeoutMs))
  const { audit, allowlistEngine } = openAudit(recording, auditEngine, engine, { ...around, changeTimeoutMs })
  const cacheEngine = await stores.engineOf(options.cache?.store, 'caches').catch(closing)
  const cache = new Caches({ ...around, ...options.cache, store: cacheEngine.cache })
  const sweeps = [engine.allowlists.upkeep, limits, idempotency, codes, tokens, locks, cache].map(
    (part) => (now: number) => part.sweep(now),
  )
  sweeps.push((now) => audit.sweep(now))
  // The hot tier belongs to the main engine.
  const looks = new HealthReads(
    () => stores.open,
    (of) => (of === engine && hotTier ? () => ({ hotTier: hotTier.figures() }) : undefined),
  )
  const upkeep = new Upkeep(sweeps, clock)
  const opened = openAllowlists(engine, {
    ...around,
    membership,
    hotTier,
    recorded: allowlistEngine,
    import: options.import,
    figures: isCounting ? new CheckFigures(maxSeries) : undefined,
    onUnavailable: options.onUnavailable ?? 'block',
    sweepSoon: () => upkeep.runSoon(),
  })
  const { allowlists, indexes } = opened
  const keys = new ApiKeys(engine.keys, clock)
  const guards = { allowlists, keys, limits, idempotency, codes, tokens, locks, cache, audit }
  upkeep.start(sweepIntervalMs)
  return {
    ...decoratedGuards(guards),
    store: redactStoreUrl(store),
    maxSeries,
    ready: opened.ready,
    stats: () => opened.stats(),
    checkCounts: opened.checkCounts,
    indexFigures: () => indexes.figures(),
    engineFigures: new EngineFiguresReader(() => stores.open, looks, calls),
    health: (bounds) => looks.health(bounds),
    tracing,
    upkeep: () => upkeep.run(),
    async close() {
      await opened.close()
      await hotTier?.close()
      await upkeep.stop()
      await tokens.close()
      await limits.close()
      await openedLocks.close()
      cache.close()
      await stores.close()
    },
  }
}
