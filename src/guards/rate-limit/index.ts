import { type Clock, isoTime } from '../../core/clock.js'
import { Deadlines } from '../../core/deadlines.js'
import { invalid } from '../../core/errors.js'
import { NamedCounts, OTHER } from '../../core/figures.js'
import { identifier } from '../../core/identifiers.js'
import type { Page } from '../allowlist/types.js'
import { Acquirer, LIMIT_OUTCOMES, type LimitCounts, type LimitOutcome } from './acquirer.js'
import type {
  AdjustOptions,
  ConfigAddress,
  ConfigQuery,
  LimitsApi,
  ListedConfig,
  StatusOptions,
  UsageQuery,
} from './api.js'
import type { CacheFigures } from './config-cache.js'
import { EngineStart } from './engine-start.js'
import type { Lease } from './lease-token.js'
import { Leases, NO_LEASE } from './leases.js'
import { resourceName, resourceOrAll } from './levels.js'
import { LimitConfigs } from './limit-configs.js'
import { PrefetchingCounters } from './local-lease.js'
import type { LimitOptions } from './options.js'
import { Policies } from './policies.js'
import type { EntityUse, LimitEngine, LimitUse, UsageHour } from './port.js'
import { quotaExceeded } from './quota-exceeded.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Denied,
  EntityRecord,
  InlineLimits,
  LeaseChange,
  LevelConfig,
  LimitStatus,
  ResolvedConfig,
  ResourceUsage,
  Subject,
  TopDenied,
  UsageEntry,
  UsageStep,
} from './types.js'
import { UsageCounter } from './usage.js'
import { addUp, heaviest } from './usage-hours.js'

export interface LimitStats extends LimitCounts {
  configCache: CacheFigures
}

export interface LimitDependencies {
  engine: LimitEngine
  clock: Clock
  options: LimitOptions
  report: (message: string, error: unknown) => void
  /** How many resources get their own counters. */
  maxSeries?: number
}

/** The lease, as passed to the work function. */
export interface HeldLease {
  readonly leaseId: string
  readonly limits: Record<string, LimitStatus>
  adjust(delta: Record<string, number>, options?: AdjustOptions): Promise<LeaseChange>
}

const DEFAULT_USAGE_MS: Record<UsageStep, number> = { hour: 24 * 3_600_000, day: 31 * 24 * 3_600_000 }
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Rate limits: how many calls may pass, and how fast. */
export class RateLimits implements LimitsApi {
  /** Outcomes of acquires, by resource. */
  readonly decisions: NamedCounts<LimitOutcome>
  private readonly acquirer: Acquirer
  private readonly leases: Leases
  private readonly configs: LimitConfigs
  private readonly policies: Policies
  private readonly counter: UsageCounter
  private readonly beginning: EngineStart
  private readonly leasing: PrefetchingCounters | undefined
  private stops: (() => void)[] | undefined

  constructor(private readonly dependencies: LimitDependencies) {
    const { engine, clock, options, report } = dependencies
    this.decisions = new NamedCounts(LIMIT_OUTCOMES, dependencies.maxSeries)
    this.decisions.of(OTHER)
    const deadlines = new Deadlines(options.timeoutMs)
    this.policies = new Policies(
      {
        read: (keys, entity) => {
          this.follow()
          return engine.configs.read(keys, entity)
        },
        migrate: (...given) => engine.configs.migrate(...given),
      },
      clock,
      options,
      deadlines,
    )
    this.leases = new Leases(engine.counters, engine.configs, clock, deadlines, options.leaseSecret)
    const kept = { entities: options.usageEntities, ms: options.usageRetentionMs }
    this.counter = new UsageCounter(engine.usage, options.usage, kept, options.usageFlushMs, report)
    const { policies, leases, counter: usage } = this
    this.beginning = new EngineStart(
      () => Promise.all([this.leases.open(), engine.counters.take([], clock.now())]),
      options.timeoutMs,
    )
    const { localLease } = options
    this.leasing = localLease && new PrefetchingCounters(engine.counters, localLease, clock)
    const counters = this.leasing ?? engine.counters
    const takeHere = this.leasing?.takeHere
    this.acquirer = new Acquirer({
      beginning: this.beginning,
      counters,
      takeHere,
      policies,
      leases,
      deadlines,
      usage,
      clock,
      options,
      decisions: this.decisions,
    })
    this.configs = new LimitConfigs(engine.configs, policies, () => this.acquirer.exhausted.clear())
  }

  /**
   * Called when the first configuration is read. Before that, memory holds nothing that
   * another process could have changed.
   */
  private follow(): void {
    const { configs, counters } = this.dependencies.engine
    this.stops ??= [
      configs.watch((key) => {
        const entity = key?.level === 'entity' ? key.entity : undefined
        this.configs.invalidate(entity, key?.resource)
      }),
      counters.watch((freed) => {
        if (freed === undefined) this.acquirer.exhausted.clear()
        else this.acquirer.exhausted.forget(freed)
      }),
    ]
  }

  /** Starts the engine, so that the first decision need not wait for that. */
  async warmUp(): Promise<void> {
    await this.beginning.ready()
  }

  /**
   * Takes from all limits or from none. A denial is a result. Throws only for invalid input, and when the engine
   * fails and the configuration says to block.
   */
  acquire(request: AcquireRequest, inline: InlineLimits = 'any'): Promise<AcquireAnswer> {
    return this.acquirer.acquire(request, inline)
  }

  /**
   * Runs the work if the limits admit it. Everything is given back if the work throws, or if the signal is aborted
   * before the work ends.
   */
  async withLease<T>(
    request: AcquireRequest,
    work: (lease: HeldLease) => T | Promise<T>,
  ): Promise<{ allowed: true; result: T } | Denied> {
    const answer = await this.acquirer.acquire(request, 'any')
    if (!answer.allowed) return answer
    const { leaseId, limits } = answer
    const { signal } = request
    let giving: Promise<unknown> | undefined
    const giveBack = () => {
      giving ??= this.giveBack(leaseId)
      giving.catch((error) => this.dependencies.report('a lease could not be given back', error))
    }
    signal?.addEventListener('abort', giveBack, { once: true })
    try {
      signal?.throwIfAborted()
      const result = await work({
        leaseId,
        limits,
        adjust: (delta, options) => this.adjust(leaseId, delta, options),
      })
      return { allowed: true, result }
    } catch (error) {
      giveBack()
      throw error
    } finally {
      signal?.removeEventListener('abort', giveBack)
      await giving?.catch(() => {})
    }
  }

  /**
   * A lease for `await using`: everything is given back at the end of the block, as concurrency limits need.
   * Throws `QUOTA_EXCEEDED` when denied.
   */
  async hold(request: AcquireRequest): Promise<HeldLease & AsyncDisposable> {
    const answer = await this.acquirer.acquire(request, 'any')
    if (!answer.allowed) throw quotaExceeded(answer)
    const { leaseId, limits } = answer
    return {
      leaseId,
      limits,
      adjust: (delta) => this.adjust(leaseId, delta),
      [Symbol.asyncDispose]: async () => {
        await this.giveBack(leaseId)
      },
    }
  }

  /**
   * Corrects what was taken. An adjustment counts once per `adjustmentId`: after UNKNOWN_OUTCOME, retry with the
   * same id. Without an id, each call is a new adjustment.
   */
  adjust(leaseId: string, delta: Record<string, number>, options: AdjustOptions = {}): Promise<LeaseChange> {
    return this.changeLease(leaseId, (lease) => this.leases.adjust(lease, delta, options.adjustmentId))
  }

  giveBack(leaseId: string): Promise<LeaseChange> {
    return this.changeLease(leaseId, (lease) => this.leases.giveBack(lease))
  }

  private async changeLease(
    leaseId: string,
    change: (lease: Lease) => Promise<LeaseChange>,
  ): Promise<LeaseChange> {
    if (leaseId === NO_LEASE) return { applied: true }
    await this.beginning.ready()
    const lease = this.leases.read(leaseId)
    const changed = await change(lease)
    for (const subject of lease.subjects) this.acquirer.exhausted.forget(subject)
    return changed
  }

  /** What is left, without taking anything. `limits` as in `acquire`. */
  async status(
    entity: string,
    resource: string,
    { limits }: StatusOptions = {},
    inline: InlineLimits = 'any',
  ): Promise<{ limits: Record<string, LimitStatus> }> {
    return { limits: await this.acquirer.look(subjectOf(entity, resource), limits, inline) }
  }

  async reset(entity: string, resource: string): Promise<void> {
    const subject = subjectOf(entity, resource)
    await (this.leasing ?? this.dependencies.engine.counters).reset(subject)
    this.acquirer.exhausted.forget(subject)
  }

  /**
   * Admitted and denied cost of an entity, by limit and hour or day, only for hours in which it was among the
   * entities with the highest use of the resource. Counts from other processes may arrive some seconds late.
   */
  async usage(entity: string, resource: string, query: UsageQuery = {}): Promise<{ items: UsageEntry[] }> {
    const who = identifier('entity', entity)
    const steps = await this.readUsage(resource, query)
    return { items: entriesOf(steps, ({ entities }) => entities.filter((use) => use.entity === who)) }
  }

  /** Cost of all entities of a resource together, and of those with the highest use. */
  async resourceUsage(resource: string, query: UsageQuery = {}): Promise<ResourceUsage> {
    const steps = await this.readUsage(resource, query)
    const uses = addUp(steps.flatMap(({ entities }) => entities))
    const order = heaviest(uses, this.dependencies.options.usageEntities)
    const places = new Map(order.map((entity, i) => [entity, i]))
    const told: EntityUse[] = uses.filter(({ entity }) => places.has(entity))
    told.sort((a, b) => places.get(a.entity)! - places.get(b.entity)!)
    return { items: entriesOf(steps, ({ totals }) => totals), entities: told }
  }

  private readUsage(resource: string, query: UsageQuery): Promise<UsageHour[]> {
    const { clock, options } = this.dependencies
    const name = resourceOrAll('resource', resource)
    const { step = 'hour' } = query
    if (step !== 'hour' && step !== 'day') throw invalid('step', 'must be one of hour, day')
    const to = timeOf('to', query.to) ?? clock.now() + 1
    const from = timeOf('from', query.from) ?? to - Math.min(DEFAULT_USAGE_MS[step], options.usageRetentionMs)
    if (to - from > options.usageRetentionMs) throw invalid('from', 'is longer ago than usage is kept')
    return this.counter.read(name, step, from, to)
  }

  async getConfig(address: ConfigAddress): Promise<LevelConfig | undefined> {
    return this.configs.get(address)
  }

  /** The entities denied most often by this process in the last hour, most denied first. */
  topDenied(query: { resource?: string; limit?: number } = {}): TopDenied {
    return this.acquirer.topDenied(query)
  }

  listConfigs(query: ConfigQuery): Promise<Page<ListedConfig>> {
    return this.configs.list(query)
  }

  async setConfig(address: ConfigAddress, config: LevelConfig): Promise<void> {
    await this.configs.set(address, config)
  }

  async deleteConfig(address: ConfigAddress): Promise<boolean> {
    return this.configs.delete(address)
  }

  async resolveConfig(entity: string | undefined, resource: string): Promise<ResolvedConfig> {
    return this.configs.resolve(entity, resource)
  }

  /**
   * Drops cached configurations of an entity, of a resource, of both together, or all. The next call reads the store.
   */
  invalidateConfigCache(entity?: string, resource?: string): void {
    this.configs.invalidate(entity, resource)
  }

  async getEntity(id: string): Promise<EntityRecord | undefined> {
    return this.configs.getEntity(id)
  }

  async setEntity(id: string, record: { parent: string; cascade?: boolean }): Promise<void> {
    await this.configs.setEntity(id, record)
  }

  async deleteEntity(id: string): Promise<boolean> {
    return this.configs.deleteEntity(id)
  }

  stats(): LimitStats {
    return { ...this.acquirer.counts, configCache: { ...this.policies.cache.figures } }
  }

  /** Deletes states that no longer matter, in a small step. */
  async sweep(now: number): Promise<{ more: boolean }> {
    const { counters, usage } = this.dependencies.engine
    const steps = [
      await counters.sweep(now),
      await usage.forget(now - this.dependencies.options.usageRetentionMs),
    ]
    return { more: steps.some(({ more }) => more) }
  }

  async close(): Promise<void> {
    for (const stop of this.stops ?? []) stop()
    await this.leasing?.close()
    await this.counter.close()
  }
}

const subjectOf = (entity: string, resource: string): Subject => ({
  entity: identifier('entity', entity),
  resource: resourceName('resource', resource),
})

function entriesOf(
  steps: readonly UsageHour[],
  usesOf: (step: UsageHour) => readonly LimitUse[],
): UsageEntry[] {
  return steps.flatMap((step) =>
    usesOf(step).map(({ limit, admitted, denied }) => {
      return { limit, start: isoTime(step.start), admitted, denied }
    }),
  )
}

function timeOf(path: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw invalid(path, 'must be a time in ISO 8601, such as 2030-01-31T12:00:00Z')
  return ms
}
