import type { LimitView } from './algorithms/algorithm.js'
import type { Rule } from './rule.js'
import type { ConfigKey, EntityRecord, Level, LevelConfig, Subject } from './types.js'

/**
 * What rate limits need of an engine. Every verb is a decision that the engine makes atomically over all processes.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with a clock of its own (Redis) decides by that, and
 * takes `now` only when it was opened to do so, which is how the conformance suites run it.
 *
 * What must share a slot, a row or an item: **everything of one subject** (one entity and one resource), that is the
 * states of all its limits and its part of each lease. One `take` mostly names one subject, and that must be a single
 * atomic step. With a parent it names two, which may lie apart. Then an engine that cannot change both at once takes
 * from the first, then from the second, and gives the first back if the second denies: others may be denied in
 * between, nobody is admitted too much, and a crash in between leaves one cost used until it comes back by itself.
 */
export interface LimitEngine {
  readonly counters: LimitStore
  readonly configs: LimitConfigStore
  readonly usage: UsageStore
}

/** One limit of a subject and what the call takes of it: at most `rule.capacity`; 0 only looks. */
export interface LimitCost {
  name: string
  rule: Rule
  cost: number
  /** Takes when it can, and never denies. */
  shadow: boolean
}

export interface SubjectCosts extends Subject {
  limits: readonly LimitCost[]
}

export interface Taken {
  /** Every limit that enforces admitted its cost, and all was taken; otherwise nothing was. */
  allowed: boolean
  /** The engine's time of the decision: part of the lease. */
  at: number
  /** For each subject each limit, in the order asked. With `retryAfterMs` above 0 nothing was taken of that limit. */
  views: readonly (readonly LimitView[])[]
}

/** One limit that a lease took from. */
export interface LeasedLimit {
  name: string
  rule: Rule
  /** Taken at first. */
  cost: number
  /** For `adjust`: what to add to the cost. */
  delta: number
}

/** A lease is kept by its holder: the engine learns of it by its first use, and forgets it when it has run out. */
export interface LeaseUse {
  /** Unique for ever. */
  id: string
  takenAt: number
  expiresAt: number
  subjects: readonly (Subject & { limits: readonly LeasedLimit[] })[]
}

/** `done`, or the lease was given back before, and nothing was changed. */
export type LeaseOutcome = 'done' | 'given-back'

/** Which of a process's conclusions no longer hold: those of one subject, or, without it, of all. */
export type Freed = Subject | undefined

export interface LimitStore {
  /** With no subjects it is asked once before all else, and may take as long as the engine needs to begin. */
  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken>
  /**
   * Adds each `delta` to what the lease has taken, once for each `adjustment`: of a lease the last ones are known by their
   * names, so that whoever does not know whether it was done may ask again. The sum of what a lease took and its deltas stays at 0 or above:
   * what a delta would take below it is left out, so that a lease never gives back more than it took.
   */
  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome>
  /** Gives back what the lease took, deltas included. */
  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome>
  /** Forgets what was used; false when nothing was. */
  reset(subject: Subject): Promise<boolean>
  /** Told within a second when anybody's reset or give-back frees what was denied. Returns how to stop. */
  watch(listener: (freed: Freed) => void): () => void
  /** Drops what no longer counts, in a small step; engines that expire by themselves answer `more: false`. */
  sweep(now: number): Promise<{ swept: number; more: boolean }>
}

export interface ConfigBatch {
  /** In the order asked; undefined where the level says nothing of the resource. */
  configs: readonly (LevelConfig | undefined)[]
  /** The record of `entity`, when asked for. */
  entity: EntityRecord | undefined
  /** Version of the stored schema. */
  schemaVersion: number
}

export interface ConfigPageRequest {
  /** The `next` of the page before. */
  after?: ConfigKey
  /** How many records are looked at. */
  limit: number
  /** Only what is said of this resource, which may be nothing of what is looked at. */
  resource?: string
  /** Also what other programs wrote and nobody has used yet, whatever that costs. */
  scan?: boolean
}

export interface ConfigPage {
  items: { key: ConfigKey; config: LevelConfig }[]
  /** Absent at the end. */
  next?: ConfigKey
}

export interface LimitConfigStore {
  /** One batch for everything; what was written before by the same instance is seen, what others wrote soon. */
  read(keys: readonly ConfigKey[], entity: string | undefined): Promise<ConfigBatch>
  /** What a level says, in the engine's own order. */
  list(level: Level, page: ConfigPageRequest): Promise<ConfigPage>
  write(key: ConfigKey, config: LevelConfig): Promise<void>
  /** False when there was none. */
  remove(key: ConfigKey): Promise<boolean>
  writeEntity(id: string, record: EntityRecord): Promise<void>
  removeEntity(id: string): Promise<boolean>
  /** Raises the version of the stored schema, and brings the records to it; does nothing when it is there already. */
  migrate(schemaVersion: number): Promise<void>
  /** Keeps the candidate if no secret is kept yet, and answers the one that is. */
  secret(candidate: string): Promise<string>
  /** Told within a second of changes that others made; without a key of any of them. Returns how to stop. */
  watch(listener: (changed: ConfigKey | undefined) => void): () => void
}

/** Cost admitted and denied of one limit. */
export interface LimitUse {
  limit: string
  admitted: number
  denied: number
}

export interface EntityUse extends LimitUse {
  entity: string
}

/** What was used of a resource in the hour that begins at `start`: all of it, and by the heaviest entities. */
export interface UsageHour {
  resource: string
  start: number
  totals: readonly LimitUse[]
  entities: readonly EntityUse[]
}

export interface UsageKept {
  /** Of the entities of an hour so many stay for certain, and at most twice as many. */
  entities: number
  /** How long an hour is kept. */
  ms: number
}

/** One record for each resource and hour, which does not grow with the number of entities. */
export interface UsageStore {
  /** Adds to what is counted; when an hour has too many entities, the lightest leave it. */
  count(hours: readonly UsageHour[], kept: UsageKept): Promise<void>
  /** Oldest first, `from` inclusive, `to` exclusive; in an hour by entity and limit. */
  read(resource: string, from: number, to: number): Promise<UsageHour[]>
  /** Drops hours that began before a time, in a small step; engines that expire by themselves answer `more: false`. */
  forget(before: number): Promise<{ more: boolean }>
}
