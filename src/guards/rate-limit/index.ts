import type { Clock } from '../../core/clock.js'
import { Deadlines, isUnavailable } from '../../core/deadlines.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { NamedCounts, OTHER } from '../../core/figures.js'
import { identifier, plainName } from '../../core/identifiers.js'
import { type ListedPage, listedPage, parseListing } from '../../core/listing.js'
import { AcquireAnswers, LIMIT_OUTCOMES, type LimitCounts, type LimitOutcome } from './acquire-answers.js'
import { Acquirer, inlineLimits } from './acquirer.js'
import { statusesOf } from './answers.js'
import type {
  AdjustOptions,
  LimitsApi,
  StatusOptions,
  SubjectQuery,
  SubjectStatus,
  UsageQuery,
} from './api.js'
import type { CacheFigures } from './config-cache.js'
import { checkDelta, costsOf } from './costs.js'
import { DeniedTop } from './denied-top.js'
import { EngineStart } from './engine-start.js'
import { Exhausted } from './exhausted.js'
import type { Lease } from './lease-token.js'
import { Leases, NO_LEASE } from './leases.js'
import { resourceName, resourceOrAll } from './levels.js'
import { LimitConfigs } from './limit-configs.js'
import { PrefetchingCounters } from './local-lease.js'
import { LocalLimits } from './local-limits/index.js'
import { Reconciler } from './local-limits/reconciler.js'
import type { LimitOptions } from './options.js'
import { wholeOf } from './parts.js'
import { Policies } from './policies.js'
import type { EntityUse, LimitEngine, UsageHour } from './port.js'
import { quotaExceeded } from './quota-exceeded.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Denied,
  InlineLimits,
  LeaseChange,
  LimitStatus,
  Limits,
  ResourceUsage,
  Subject,
  TopDenied,
  UsageEntry,
} from './types.js'
import { UsageCounter } from './usage.js'
import { addUp, heaviest } from './usage-hours.js'
import { entriesOf, parseUsageQuery } from './usage-query.js'

export interface LimitStats extends LimitCounts {
  configCache: CacheFigures
}

interface LimitDependencies {
  engine: LimitEngine
  clock: Clock
  /** Times the shares that this process admits by itself. Absent: `clock`. */
  steadyClock?: Clock
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

const MAX_SUBJECTS = 100

/** Rate limits: how many calls may pass, and how fast. */
export class RateLimits extends LimitConfigs implements LimitsApi {
  /** Outcomes of acquires, by resource. */
  readonly decisions: NamedCounts<LimitOutcome>
  private readonly acquirer: Acquirer
  private readonly answers: AcquireAnswers
  private readonly exhausted: Exhausted
  private readonly top: DeniedTop
  private readonly leases: Leases
  private readonly counter: UsageCounter
  private readonly beginning: EngineStart
  private readonly deadlines: Deadlines
  private readonly leasing: PrefetchingCounters | undefined
  private readonly local: LocalLimits
  private readonly reconciler: Reconciler

  constructor(private readonly dependencies: LimitDependencies) {
    const { engine, clock, options, report } = dependencies
    const deadlines = new Deadlines(options.timeoutMs)
    const top = new DeniedTop(clock.now())
    const exhausted = new Exhausted(engine.counters, options.configCacheMs, top)
    const policies = new Policies(engine.configs, clock, options, deadlines, () => exhausted.clear())
    super(engine.configs, policies)
    this.deadlines = deadlines
    this.top = top
    this.exhausted = exhausted
    const decisions = new NamedCounts(LIMIT_OUTCOMES, dependencies.maxSeries)
    decisions.of(OTHER)
    this.decisions = decisions
    const leases = new Leases(engine.counters, engine.configs, clock, deadlines, options.leaseSecret)
    this.leases = leases
    const retention = { entities: options.usageEntities, ms: options.usageRetentionMs }
    const usage = new UsageCounter(engine.usage, options.usage, retention, options.usageFlushMs, report)
    this.counter = usage
    const beginning = new EngineStart(
      () => Promise.all([leases.open(), engine.counters.take([], clock.now())]),
      options.timeoutMs,
    )
    this.beginning = beginning
    const { localLease, leaseMs } = options
    const { steadyClock: steady = clock } = dependencies
    this.leasing = localLease && new PrefetchingCounters(engine.counters, localLease, clock)
    const counters = this.leasing ?? engine.counters
    const takeHere = this.leasing?.takeHere
    this.local = new LocalLimits(localShareOf(options))
    this.reconciler = new Reconciler(this.local, engine.counters, { clock, steady }, leaseMs, report)
    const { local, reconciler } = this
    const kept = { exhausted, top, leases, leaseMs, local, reconciler, steady }
    const answers = new AcquireAnswers({ ...kept, usage, clock, decisions })
    this.answers = answers
    this.acquirer = new Acquirer({
      counters,
      takeHere,
      policies,
      exhausted,
      answers,
      beginning,
      deadlines,
      clock,
    })
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
    try {
      return this.acquirer.acquire(request, inline)
    } catch (error) {
      return Promise.reject(error)
    }
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
    if (LocalLimits.isLease(leaseId)) return this.changeHere(leaseId, () => checkDelta(delta))
    return this.changeLease(leaseId, (lease) => this.leases.adjust(lease, delta, options.adjustmentId))
  }

  giveBack(leaseId: string): Promise<LeaseChange> {
    if (LocalLimits.isLease(leaseId)) return this.changeHere(leaseId, () => 'all')
    return this.changeLease(leaseId, (lease) => this.leases.giveBack(lease))
  }

  private async changeHere(
    leaseId: string,
    change: () => Record<string, number> | 'all',
  ): Promise<LeaseChange> {
    const { clock, steadyClock = clock } = this.dependencies
    return this.local.change(leaseId, change(), steadyClock.now())
  }

  private async changeLease(
    leaseId: string,
    change: (lease: Lease) => Promise<LeaseChange>,
  ): Promise<LeaseChange> {
    if (leaseId === NO_LEASE) return { applied: true }
    await this.beginning.ready()
    const lease = this.leases.read(leaseId)
    const changed = await change(lease)
    for (const subject of lease.subjects) this.exhausted.forget(wholeOf(subject))
    return changed
  }

  /**
   * The costs of an acquire that takes the same amount of every limit, and whether every limit can ever hold it. Without
   * the store, as last known; undefined if no limit is known.
   */
  async costOfEach(
    { entity, resource, limits }: AcquireRequest,
    amount: number,
    inline: InlineLimits = 'any',
  ): Promise<{ consume: Record<string, number> | undefined; fits: boolean }> {
    const subject = subjectOf(entity, resource)
    const given = inlineLimits(limits, inline)
    const found = await this.findPolicy(subject, given, inline)
    if (found === undefined) return { consume: undefined, fits: true }
    const { limits: all } = found.policy
    return {
      consume: Object.fromEntries(all.map(({ costName }) => [costName, amount])),
      fits: all.every(({ rule, shadow }) => shadow || amount <= rule.capacity),
    }
  }

  private async findPolicy(subject: Subject, given: Limits | undefined, inline: InlineLimits) {
    try {
      return await this.policies.find(subject, given, inline)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return this.policies.findLastKnown(subject, given, inline)
    }
  }

  /** What is left, without taking anything. `limits` as in `acquire`. */
  async status(
    entity: string,
    resource: string,
    { limits }: StatusOptions = {},
    inline: InlineLimits = 'any',
  ): Promise<{ limits: Record<string, LimitStatus> }> {
    const { engine, clock } = this.dependencies
    const subject = subjectOf(entity, resource)
    await this.beginning.ready()
    const { policy } = await this.policies.find(subject, inlineLimits(limits, inline), inline)
    const wanted = { ...subject, limits: costsOf(policy, {}), policies: policy.told, known: undefined }
    try {
      const { views } = await this.deadlines.within(
        (this.leasing ?? engine.counters).take([wanted], clock.now()),
      )
      return { limits: statusesOf(wanted, views[0]!) }
    } catch (error) {
      // The call changes nothing, so its outcome cannot be unknown.
      if (!isCatracaError(error, 'UNKNOWN_OUTCOME')) throw error
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the engine did not answer', { cause: error })
    }
  }

  async subjects({ resource: given, ...query }: SubjectQuery = {}): Promise<ListedPage<SubjectStatus>> {
    const request = parseListing({ limit: MAX_SUBJECTS, ...query })
    if (request.limit > MAX_SUBJECTS) throw invalid('limit', `must be at most ${MAX_SUBJECTS}`)
    const resource = given === undefined ? {} : { resource: plainName('resource', given) }
    const { items, next } = await this.dependencies.engine.counters.list({ ...request, ...resource })
    const statuses = items.map(async (subject) => {
      const status = await this.status(subject.entity, subject.resource).catch(unlessUnconfigured)
      return { ...subject, ...status }
    })
    return listedPage(await Promise.all(statuses), next)
  }

  async reset(entity: string, resource: string): Promise<void> {
    const subject = subjectOf(entity, resource)
    await (this.leasing ?? this.dependencies.engine.counters).reset(subject)
    this.exhausted.forget(subject)
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
    const { step, from, to } = parseUsageQuery(query, clock.now(), options.usageRetentionMs)
    return this.counter.read(name, step, from, to)
  }

  /** The entities denied most often by this process in the last hour, most denied first. */
  topDenied(query: { resource?: string; limit?: number } = {}): TopDenied {
    this.exhausted.flushAllDenials()
    return this.top.read(query, this.dependencies.clock.now())
  }

  stats(): LimitStats {
    return { ...this.answers.counts, configCache: { ...this.policies.cache.figures } }
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
    this.policies.cache.close()
    this.exhausted.close()
    await this.reconciler.settled()
    await this.leasing?.close()
    await this.counter.close()
  }
}

function localShareOf({ localShare }: LimitOptions): number {
  if (localShare > 0 && localShare <= 1) return localShare
  throw invalid('limits.localShare', 'must be above 0 and at most 1')
}

const subjectOf = (entity: string, resource: string): Subject => ({
  entity: identifier('entity', entity),
  resource: resourceName('resource', resource),
})

/** The configuration may have changed since the use was recorded. */
function unlessUnconfigured(error: unknown): undefined {
  if (!isCatracaError(error, 'LIMIT_NOT_CONFIGURED') && !isCatracaError(error, 'LIMIT_INCOMPLETE'))
    throw error
}
