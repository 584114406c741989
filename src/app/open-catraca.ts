import { systemClock } from '../core/clock.js'
import type { Bounds } from '../core/coalesced-read.js'
import { DEFAULT_MAX_SERIES } from '../core/figures.js'
import { DEFAULT_SWEEP_INTERVAL_MS } from '../core/timers.js'
import type { Engine, EnginePorts, GuardName } from '../engines/engine.js'
import { DEFAULT_STORE } from '../engines/registry.js'
import type { KeptKeys } from '../guards/access/kept-keys.js'
import { Sessions } from '../guards/access/sessions/index.js'
import { CheckFigures } from '../guards/allowlist/check-figures.js'
import { DEFAULT_LAST_KNOWN } from '../guards/allowlist/last-known/options.js'
import type { CheckCounts } from '../guards/allowlist/membership/indexed-checks.js'
import type { IndexFigures } from '../guards/allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP } from '../guards/allowlist/membership/options.js'
import { Fleet } from '../guards/fleet/index.js'
import { DEFAULT_FLEET, type FleetApi } from '../guards/fleet/types.js'
import type { RecordNaming } from '../guards/idempotency/options.js'
import type { CallTracing } from './call-tracing.js'
import { Circuits } from './circuits.js'
import { decoratedGuards } from './decorated-guards.js'
import { EngineCalls } from './engine-calls.js'
import { EngineFiguresReader } from './engine-figures.js'
import type { Guards } from './fields-of-calls.js'
import { OPEN_FIELDS } from './fields-of-options.js'
import { fleetFigures } from './fleet-figures.js'
import { type Health, HealthReads } from './health.js'
import { openHotTier } from './hot-tier.js'
import { type Copy, openCopy } from './last-known-copy.js'
import { openAllowlists, type Stats } from './open-allowlists.js'
import type { OpenOptions, OwnEngineOptions } from './open-options.js'
import { openPorts } from './open-ports.js'
import { checkOwnEngine } from './own-engine.js'
import { plainGuards } from './plain-guards.js'
import { auditOptions, openAudit, recordMembers } from './record-audit.js'
import { openVoting } from './redlock.js'
import { withProfile } from './store-profile.js'
import { Stores } from './stores.js'
import { Tracing } from './tracing.js'
import { Upkeep } from './upkeep.js'

export type { GuardName } from '../engines/engine.js'
export type { OpenOptions } from './open-options.js'

/** All guards over their engines. */
export interface Catraca extends Guards {
  /** Where the data is, without credentials. */
  readonly store: string
  /** Sessions of people, for the server. */
  readonly sessions: Sessions
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
  /** The processes that use the same store. */
  readonly fleet: FleetApi
  /** For the server: API keys that are kept on disk. Undefined: there is no copy on disk. */
  readonly keptKeys: KeptKeys | undefined
  /** Spans, if the host collects them. */
  readonly tracing: CallTracing
  /** Deletes all expired data now. A running instance does this in the background. */
  upkeep(): Promise<void>
  close(): Promise<void>
}

/** The ports that parts of an instance need, where they are not those of the same name. */
interface OtherNeeds {
  codes: 'codes' | 'limits'
  stats: 'allowlists'
  checkCounts: 'allowlists'
  indexFigures: 'allowlists'
}
type Needs<Part> = Part extends keyof OtherNeeds ? OtherNeeds[Part] : Part extends GuardName ? Part : never

/** An instance on an engine that somebody else made: whatever needs a port that the engine lacks may be absent. */
export type CatracaOn<E extends Engine> = {
  readonly [Part in keyof Catraca]: E extends Pick<EnginePorts, Needs<Part>>
    ? Catraca[Part]
    : Catraca[Part] | undefined
}

/** An instance with any guards. */
export type AnyCatraca = CatracaOn<Engine>

type AnyOptions = OpenOptions & Partial<OwnEngineOptions>

/** Opens a store and the guards on it. */
export async function openCatraca(options?: OpenOptions): Promise<Catraca>
/** Opens the guards on an engine that somebody else made. */
export async function openCatraca<E extends Engine>(options: OwnEngineOptions<E>): Promise<CatracaOn<E>>
export async function openCatraca(given: AnyOptions = {}): Promise<AnyCatraca> {
  OPEN_FIELDS.check(given)
  const { engine } = given
  const options = withProfile(given, engine === undefined ? (given.store ?? DEFAULT_STORE) : undefined)
  if (engine !== undefined) checkOwnEngine({ ...options, engine })
  const report = options.onReport ?? (() => {})
  const { enabled: isCounting = true, maxSeries = DEFAULT_MAX_SERIES } = options.metrics ?? {}
  const tracing = new Tracing(options.tracing?.enabled ?? true)
  await tracing.look()
  const calls = new EngineCalls()
  const circuits = new Circuits(report)
  const isBare = [options.idempotency?.naming, options.redis?.idempotencyNaming].includes('bare')
  const idempotencyNaming = isBare ? 'bare' : 'operation'
  const { staleAfterMs, compareIntervalMs } = { ...DEFAULT_MEMBERSHIP, ...options.membership }
  // The hot tier is opened separately.
  const { hotTier: _, ...dynamodb } = options.dynamodb ?? {}
  const isWatched = isCounting || tracing.spans !== undefined
  const copy = await openCopy(options, report)
  const stores = new Stores({
    main: engine ?? options.store ?? DEFAULT_STORE,
    options: { ...options, dynamodb },
    instance: { report, staleAfterMs, compareIntervalMs, idempotencyNaming },
    watch: isWatched ? { calls, tracing } : undefined,
    circuits,
    mayBeAway: copy?.state !== undefined,
  })
  const undo = [() => stores.abandon()]
  const figures = { calls, circuits, isCounting, maxSeries }
  const parts = { stores, undo, report, tracing, ...figures, idempotencyNaming, copy } as const
  try {
    return await openGuards(options, parts)
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw error
  }
}

interface Parts {
  readonly stores: Stores
  /** What closes everything that was opened, should opening fail. */
  readonly undo: (() => Promise<void>)[]
  readonly report: (message: string, error: unknown) => void
  readonly tracing: Tracing
  readonly calls: EngineCalls
  readonly circuits: Circuits
  readonly isCounting: boolean
  readonly maxSeries: number
  readonly idempotencyNaming: RecordNaming
  readonly copy: Copy | undefined
}

async function openGuards(options: AnyOptions, parts: Parts): Promise<AnyCatraca> {
  const { stores, report, maxSeries } = parts
  const clock = options.clock ?? systemClock
  const around = { clock, report }
  const recording = auditOptions(options.audit)
  const membership = { ...DEFAULT_MEMBERSHIP, ...options.membership }
  const voting = await openVoting(options.locks?.redlock, options.redis)
  if (voting !== undefined) parts.undo.push(() => voting.close())
  const { main, ports, codeEngine, changeTimeoutMs } = await openPorts(options, stores, voting)
  const hotTier = await openHotTier(options.dynamodb?.hotTier, { store: main, membership, report })
  if (hotTier !== undefined) parts.undo.push(() => hotTier.close())
  const plain = plainGuards(ports, options, { ...parts, clock, codeEngine })
  const trail = openAudit(ports.audit, recording, { ...around, changeTimeoutMs })
  plain.keys?.createdBy(() => trail.current().actor.name)
  const audit = ports.audit && trail
  const { limits, idempotency, codes, tokens, locks, cache } = plain
  const sessions = ports.sessions && new Sessions(ports.sessions, clock)
  const swept = [ports.allowlists?.upkeep, sessions, limits, idempotency, codes, tokens, locks, cache, audit]
  const upkeep = new Upkeep(
    swept.flatMap((part) => (part === undefined ? [] : [(now: number) => part.sweep(now)])),
    clock,
  )
  const lists =
    ports.allowlists &&
    openAllowlists(main.engine, ports.allowlists, {
      ...around,
      membership,
      hotTier,
      recorded: recordMembers(ports.allowlists, trail, recording, ports.audit === main.ports.audit),
      import: options.import,
      figures: parts.isCounting ? new CheckFigures(maxSeries) : undefined,
      onUnavailable: options.onUnavailable ?? 'block',
      lastKnown: { ...DEFAULT_LAST_KNOWN, ...options.lastKnown },
      sweepSoon: () => upkeep.runSoon(),
      copy: parts.copy,
      isLate: main.isLate,
    })
  stores.onOpened = () => lists?.storeOpened()
  // The hot tier belongs to the main engine.
  const looks = new HealthReads(
    () => stores.open,
    (of) => (of === main.engine && hotTier ? () => ({ hotTier: hotTier.figures() }) : undefined),
  )
  const fleet = new Fleet({
    store: main.engine.fleet,
    engine: main.engine.name,
    clock,
    options: { ...DEFAULT_FLEET, ...options.fleet },
    figures: () => fleetFigures(lists, parts),
  })
  upkeep.start(options.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS)
  return {
    ...decoratedGuards({ ...plain, allowlists: lists?.allowlists, audit }, trail),
    store: main.shown,
    sessions,
    maxSeries,
    ready: lists?.ready ?? Promise.resolve(),
    stats: lists && (() => lists.stats()),
    checkCounts: lists?.checkCounts,
    indexFigures: lists && (() => lists.indexes.figures()),
    engineFigures: new EngineFiguresReader(() => stores.open, looks, parts),
    health: (bounds) => looks.health(bounds),
    fleet,
    keptKeys: parts.copy?.keys,
    tracing: parts.tracing,
    upkeep: () => upkeep.run(),
    async close() {
      await fleet.close()
      await lists?.close()
      await hotTier?.close()
      await upkeep.stop()
      await tokens?.close()
      await limits?.close()
      locks?.close()
      await voting?.close()
      cache?.close()
      await stores.close()
    },
  }
}
