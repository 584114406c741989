import { mkdirSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiKeys } from './access/keys.js'
import { Allowlists } from './allowlist/allowlists.js'
import { CheckFigures } from './allowlist/check-figures.js'
import { type CheckCounts, IndexedChecks } from './allowlist/membership/indexed-checks.js'
import { Indexes, type IndexFigures } from './allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP, type MembershipOptions } from './allowlist/membership/options.js'
import { UseCounts, warmUp } from './allowlist/membership/warm-up.js'
import type { OnUnavailable } from './allowlist/types.js'
import type { AuditTrail } from './audit/trail.js'
import { auditOptions, type OpenAuditOptions, openAudit, recordGuards } from './audit.js'
import type { Caches } from './cache/caches.js'
import { type OpenCacheOptions, openCache } from './cache.js'
import type { ListRef } from './changes/port.js'
import { type Clock, systemClock } from './clock.js'
import { type OpenCodesOptions, openCodes } from './codes.js'
import { redactStoreUrl } from './config/store-url.js'
import { EngineCalls } from './engine-calls.js'
import { EngineFiguresReader } from './engine-figures.js'
import { DEFAULT_MAX_SERIES } from './figures.js'
import { type Health, HealthLooks } from './health.js'
import { openHotTier } from './hot-tier.js'
import type { Idempotency } from './idempotency/idempotency.js'
import { type OpenIdempotencyOptions, openIdempotency } from './idempotency.js'
import { ImportThreads } from './import-runner.js'
import { IndexThreads } from './index-runner.js'
import { type OpenLimitsOptions, openLimits } from './limits.js'
import type { Locks } from './lock/locks.js'
import { type OpenLocksOptions, openLocks } from './locks.js'
import type { OneTimeCodes } from './one-time-code/codes.js'
import { type EngineOptions, engineSource, type StoreEngine } from './open-engine.js'
import type { RateLimits } from './rate-limit/limits.js'
import type { Bounds } from './shared-look.js'
import { Stores } from './stores.js'
import type { TokenDenylist } from './token-denylist/denylist.js'
import { type OpenTokensOptions, openTokens } from './tokens.js'
import { Tracing } from './tracing.js'
import { Upkeep } from './upkeep.js'

export interface OpenOptions extends EngineOptions {
  /** A store URL such as `embedded:./catraca-data` (the default) or `memory:`. */
  store?: string
  clock?: Clock
  /** How often to look for what is to be swept; 0: only when `upkeep()` is called. */
  sweepIntervalMs?: number
  membership?: Partial<MembershipOptions>
  limits?: OpenLimitsOptions
  idempotency?: OpenIdempotencyOptions
  codes?: OpenCodesOptions
  tokens?: OpenTokensOptions
  locks?: OpenLocksOptions
  cache?: OpenCacheOptions
  metrics?: MetricsOptions
  audit?: OpenAuditOptions
  /** What a check answers when neither memory nor the store can tell: fail (the default), or allow, marked. */
  onUnavailable?: OnUnavailable
  tracing?: {
    /** Whether spans are made where the host has registered a provider of OpenTelemetry; true unless told otherwise. */
    enabled?: boolean
  }
  /** Told of failures in the background, which nobody waits for. */
  onReport?: (message: string, error: unknown) => void
  import?: {
    /** After so long without a sign of life an import counts as interrupted. */
    leaseMs?: number
    /** Where large replaces keep what does not fit memory. */
    spoolDir?: string
  }
}

export interface MetricsOptions {
  /** Whether guards and engines count what they do; on unless said otherwise. */
  enabled?: boolean
  /** How many lists, resources and spaces are counted apart, of each; what comes later counts as `other`. */
  maxSeries?: number
}

/** Figures of what is in memory and what it saves; the first four as the source design names them. */
export interface Stats {
  metaCacheSize: number
  bloomFiltersCount: number
  verificationCacheSize: number
  estimatedMemoryMB: number
  metaCacheHits: number
  metaCacheMisses: number
  verificationCacheHits: number
  verificationCacheMisses: number
  checks: CheckCounts
}

/** All guards over their engines. */
export interface Catraca {
  readonly allowlists: Allowlists
  readonly keys: ApiKeys
  readonly limits: RateLimits
  readonly idempotency: Idempotency
  readonly codes: OneTimeCodes
  readonly tokens: TokenDenylist
  readonly locks: Locks
  readonly cache: Caches
  /** Who changed what, when, from what to what. */
  readonly audit: AuditTrail
  /** Where the data is, without credentials. */
  readonly store: string
  /** Settles when the most used lists are in memory. */
  readonly ready: Promise<void>
  stats(): Stats
  /** How checks were answered so far, as they go on: costs nothing, unlike `stats`. */
  readonly checkCounts: Readonly<CheckCounts>
  /** How many lists, resources and cache spaces metrics show apart, of each. */
  readonly maxSeries: number
  /** Figures of the lists in memory. */
  indexFigures(): IndexFigures
  /** Figures of the engines, and what they were asked. */
  readonly engineFigures: EngineFiguresReader
  /** How every engine is: each asked at most once a second, and waited for no longer than the bounds say. */
  health(bounds?: Partial<Bounds>): Promise<Health>
  /** Spans, where the host collects them. */
  readonly tracing: Tracing
  /** Sweeps whatever is due, to its end: what a running instance does by itself in the background. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

/** How often to look whether the build of another process is done. */
const BUILD_POLL_MS = 100
const DEFAULT_STORE = 'embedded:./catraca-data'
const DEFAULT_SWEEP_INTERVAL_MS = 10_000
const DEFAULT_IMPORT_LEASE_MS = 15_000

export async function openCatraca(options: OpenOptions = {}): Promise<Catraca> {
  const store = options.store ?? DEFAULT_STORE
  const clock = options.clock ?? systemClock
  const report = options.onReport ?? (() => {})
  const { enabled: isCounting = true, maxSeries = DEFAULT_MAX_SERIES } = options.metrics ?? {}
  const sweepIntervalMs = options.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS
  const dynamodb = { report, ...options.dynamodb }
  const membership = { ...DEFAULT_MEMBERSHIP, ...options.membership }
  // What an image may be behind, a list's own record may be too.
  const redis = { staleAfterMs: membership.staleAfterMs, ...options.redis }
  const tracing = new Tracing(options.tracing?.enabled ?? true)
  await tracing.look()
  const calls = new EngineCalls()
  const sourceOf = (url: string) => engineSource(url, { ...options, dynamodb, redis })
  const recording = auditOptions(options.audit)
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
  const limits = openLimits(options.limits ?? {}, limitEngine, { ...around, maxSeries })
  const idempotency = openIdempotency(options.idempotency ?? {}, await engineOf(options.idempotency), around)
  const codeEngine = await engineOf(options.codes)
  const codes = await Promise.resolve()
    .then(() => openCodes(options.codes ?? {}, codeEngine, { ...around, limits: limitEngine }))
    .catch(closing)
  const tokens = openTokens(options.tokens ?? {}, await engineOf(options.tokens), around)
  const openedLocks = await openLocks(options.locks ?? {}, () => engineOf(options.locks), {
    ...around,
    redis: options.redis,
  }).catch(closing)
  const { locks } = openedLocks
  const auditEngine = await engineOf(options.audit)
  const { audit, allowlistEngine } = openAudit(recording, auditEngine, engine, around)
  const cacheEngine = await stores.engineOf(options.cache?.store, 'caches').catch(closing)
  const cache = openCache(options.cache ?? {}, cacheEngine, around)
  const imports = new ImportThreads(
    {
      engine: () => engine.forThreads(),
      leaseMs: options.import?.leaseMs ?? DEFAULT_IMPORT_LEASE_MS,
      spillDir: spillDirectory(options.import?.spoolDir),
    },
    clock,
    () => engine.refresh(),
  )
  let isClosed = false
  const builds = new IndexThreads({
    engine: () => engine.forThreads(),
    leaseMs: membership.buildLeaseMs,
    threads: Math.min(2, availableParallelism()),
  })
  const buildOrWait = async (list: ListRef, full: boolean): Promise<void> => {
    const { index } = engine.allowlists
    const before = await index.version(list)
    while (!isClosed && (await builds.build(list, full)) === 'busy') {
      while (!isClosed && (await index.builder(list, clock.now())) !== undefined) {
        await sleep(BUILD_POLL_MS)
      }
      // It died, or failed, without a result: then it is this one's turn.
      if ((await index.version(list)) !== before) return
    }
  }
  const indexes = new Indexes({
    index: engine.allowlists.index,
    changes: hotTier?.changes ?? engine.allowlists.changes,
    clock,
    options: membership,
    report,
    build: (list, full) => buildOrWait(list, full),
  })
  const hot = hotTier?.checks((incarnation) => indexes.get(incarnation).index?.snapshotPosition)
  const checks = new IndexedChecks(hot ?? engine.allowlists.checks, indexes, clock, hot?.direct)
  const uses = new UseCounts(indexes, report)
  const sweeps = [engine.allowlists.upkeep, limits, idempotency, codes, tokens, locks, cache].map(
    (part) => (now: number) => part.sweep(now),
  )
  sweeps.push((now) => audit.sweep(now))
  // The tier stands in front of the main engine.
  const looks = new HealthLooks(
    () => stores.open,
    (of) => (of === engine && hotTier ? () => ({ hotTier: hotTier.figures() }) : undefined),
  )
  const upkeep = new Upkeep(sweeps, clock)
  const allowlists = new Allowlists({
    engine: { ...allowlistEngine, checks },
    clock,
    runImport: imports.run,
    indexes,
    traced: (note) => checks.traced(note, () => engine.listCache().misses),
    figures: isCounting ? new CheckFigures(maxSeries) : undefined,
    onUnavailable: options.onUnavailable ?? 'block',
    resharding: engine.resharding,
    sweepSoon: () => upkeep.runSoon(),
  })
  const keys = new ApiKeys(engine.keys, clock)
  recordGuards(recording, audit, { allowlists, keys, limits, idempotency, codes, tokens, locks })
  upkeep.start(sweepIntervalMs)
  return {
    allowlists,
    keys,
    limits,
    idempotency,
    codes,
    tokens,
    locks,
    cache,
    audit,
    store: redactStoreUrl(store),
    maxSeries,
    ready: warmUp(engine.allowlists, indexes, membership, report),
    stats: () => stats(engine, indexes, checks.counts),
    checkCounts: checks.counts,
    indexFigures: () => indexes.figures(),
    engineFigures: new EngineFiguresReader(() => stores.open, looks, calls),
    health: (bounds) => looks.health(bounds),
    tracing,
    upkeep: () => upkeep.run(),
    async close() {
      isClosed = true
      // First of all: nothing may be begun that waits for what is closed next.
      const indexesClosed = indexes.close()
      await imports.close()
      await builds.close()
      await uses.close()
      await indexesClosed
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

function spillDirectory(given: string | undefined): string {
  const directory = given === undefined ? join(tmpdir(), 'catraca-spool') : resolve(given)
  mkdirSync(directory, { recursive: true })
  return directory
}

function stats(engine: StoreEngine, indexes: Indexes, checks: CheckCounts): Stats {
  const meta = engine.listCache()
  const { verified } = indexes
  // As the source estimates it: about 1 KB for each list and 200 bytes for each verified answer.
  const bytes = indexes.sizeBytes + meta.size * 1024 + verified.size * 200
  return {
    metaCacheSize: meta.size,
    bloomFiltersCount: indexes.listCount,
    verificationCacheSize: verified.size,
    estimatedMemoryMB: Math.round((bytes / (1024 * 1024)) * 100) / 100,
    metaCacheHits: meta.hits,
    metaCacheMisses: meta.misses,
    verificationCacheHits: verified.hits,
    verificationCacheMisses: verified.misses,
    checks: { ...checks },
  }
}
