import { mkdirSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../core/clock.js'
import type { Engine, StoreSource } from '../engines/engine.js'
import type { ListRef } from '../guards/allowlist/changes/port.js'
import type { CheckFigures } from '../guards/allowlist/check-figures.js'
import { Allowlists, type TimedEngine } from '../guards/allowlist/index.js'
import { DiskCopy } from '../guards/allowlist/last-known/disk-copy/index.js'
import { LastKnown } from '../guards/allowlist/last-known/index.js'
import type { LastKnownOptions } from '../guards/allowlist/last-known/options.js'
import { RememberedLists } from '../guards/allowlist/last-known/remembered-lists.js'
import { type CheckCounts, IndexedChecks } from '../guards/allowlist/membership/indexed-checks.js'
import { Indexes } from '../guards/allowlist/membership/indexes.js'
import type { MembershipOptions } from '../guards/allowlist/membership/options.js'
import { UseCounts, warmUp } from '../guards/allowlist/membership/warm-up.js'
import type { AllowlistEngine, ListRecord } from '../guards/allowlist/port.js'
import type { OnUnavailable } from '../guards/allowlist/types.js'
import type { HotTier } from './hot-tier.js'
import type { Copy } from './last-known-copy.js'
import { Imports } from './threads/import-runner.js'
import { IndexBuilds } from './threads/index-runner.js'

export interface ImportOptions {
  /** An import that has not renewed its lease for this long counts as interrupted. */
  leaseMs?: number
  /** Where large replaces store what does not fit in memory. */
  spoolDir?: string
}

/** Figures of what is in memory and what it saves. The first four have the names of the source design. */
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

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
  membership: MembershipOptions
  hotTier: HotTier | undefined
  /** The allowlist engine, with changes of single members recorded in the audit trail. */
  recorded: TimedEngine
  import: ImportOptions | undefined
  figures: CheckFigures | undefined
  onUnavailable: OnUnavailable
  lastKnown: LastKnownOptions
  sweepSoon: () => void
  /** Where a copy of what memory knows is kept. */
  copy: Copy | undefined
  /** The store is away, so that only the copy knows anything. */
  isLate: boolean
}

export interface OpenedAllowlists {
  allowlists: Allowlists
  indexes: Indexes
  /** Resolves when the most used lists are in memory. */
  ready: Promise<void>
  stats(): Stats
  checkCounts: Readonly<CheckCounts>
  /** The store was away at the start, and answers now. */
  storeOpened(): void
  close(): Promise<void>
}

/** How often to check whether another process has finished its build. */
const BUILD_POLL_MS = 100
const DEFAULT_IMPORT_LEASE_MS = 15_000

/** Opens allowlists with their indexes in memory and the threads for imports and builds. */
export function openAllowlists(
  engine: Engine,
  port: AllowlistEngine,
  around: Surroundings,
): OpenedAllowlists {
  const { clock, report, membership, hotTier } = around
  const source = engine.forThreads && (() => engine.forThreads!())
  const { leaseMs = DEFAULT_IMPORT_LEASE_MS, spoolDir } = around.import ?? {}
  const imports = new Imports(
    { source, bulk: port.bulk, members: port.members, leaseMs, spillDir: spillDirectory(spoolDir) },
    clock,
    () => engine.refresh?.(),
  )
  const builds = new Builds(port, source, membership.buildLeaseMs, clock)
  const indexes = new Indexes({
    index: port.index,
    changes: hotTier?.changes ?? port.changes,
    clock,
    options: membership,
    report,
    build: (list, full) => builds.buildOrWait(list, full),
  })
  const hot = hotTier?.checks((incarnation) => indexes.get(incarnation).index?.snapshotPosition)
  const { isImmediate } = hotTier?.changes ?? port.changes
  const remembered =
    around.onUnavailable === 'last-known'
      ? new RememberedLists(hot ?? port.checks, isImmediate ? 0 : membership.staleAfterMs)
      : undefined
  const checks = new IndexedChecks(remembered ?? hot ?? port.checks, indexes, clock, hot?.direct)
  const lastKnown =
    remembered && new LastKnown({ lists: remembered, indexes, clock, options: around.lastKnown, isImmediate })
  const { copy } = around
  const disk = copy && remembered && new DiskCopy({ ...copy, lists: remembered, indexes, clock, report })
  const learn = (list: ListRecord) => remembered?.restore(list, performance.now())
  const warm = () => warmUp(port, indexes, membership, report, learn)
  const uses = new UseCounts(indexes, report)
  const allowlists = new Allowlists({
    engine: { ...around.recorded, checks },
    clock,
    report: around.report,
    runImport: imports.run,
    indexes,
    traced: (note) => checks.traced(note, () => engine.listCache?.().misses ?? 0),
    tokenNow: (list) => checks.tokenNow(list),
    figures: around.figures,
    withoutStore: { onUnavailable: around.onUnavailable, lastKnown },
    resharding: engine.resharding,
    sweepSoon: around.sweepSoon,
  })
  return {
    allowlists,
    indexes,
    ready: disk && copy?.state && around.isLate ? disk.restore(copy.state) : warm(),
    storeOpened: () => void warm(),
    stats: () => stats(engine, indexes, checks.counts),
    checkCounts: checks.counts,
    async close() {
      builds.stop()
      await disk?.close()
      // First, because nothing may start that depends on what is closed next.
      const indexesClosed = indexes.close()
      await imports.close()
      await builds.close()
      await uses.close()
      await indexesClosed
    },
  }
}

/** Builds in this process, or waits for the process that builds the same list. */
class Builds {
  private readonly builds: IndexBuilds
  private isStopped = false

  constructor(
    private readonly port: AllowlistEngine,
    source: (() => StoreSource) | undefined,
    leaseMs: number,
    private readonly clock: Clock,
  ) {
    const threads = Math.min(2, availableParallelism())
    this.builds = new IndexBuilds({ source, port, leaseMs, threads })
  }

  async buildOrWait(list: ListRef, full: boolean): Promise<void> {
    const { index } = this.port
    const before = await index.version(list)
    while (!this.isStopped && (await this.builds.build(list, full)) === 'busy') {
      while (!this.isStopped && (await index.builder(list, this.clock.now())) !== undefined) {
        await sleep(BUILD_POLL_MS)
      }
      // The other process died or failed without a result, so build here.
      if ((await index.version(list)) !== before) return
    }
  }

  stop(): void {
    this.isStopped = true
  }

  close(): Promise<void> {
    return this.builds.close()
  }
}

function spillDirectory(given: string | undefined): string {
  const directory = given === undefined ? join(tmpdir(), 'catraca-spool') : resolve(given)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

function stats(engine: Engine, indexes: Indexes, checks: CheckCounts): Stats {
  const meta = engine.listCache?.() ?? { size: 0, hits: 0, misses: 0 }
  const { verified } = indexes
  // As the source design estimates it: about 1 KB per list and 200 bytes per cached verification.
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
