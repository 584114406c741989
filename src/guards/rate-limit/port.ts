import type { Listing, ListingRequest } from '../../core/listing.js'
import type { LimitView } from './algorithms/algorithm.js'
import type { Rule } from './rule.js'
import type { ConfigKey, EntityRecord, Level, LevelConfig, Subject } from './types.js'

/**
 * What rate limits need from an engine. The engine executes each verb atomically across all processes.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with its own clock (Redis) uses that instead. It
 * uses `now` only when it was opened to do so, as the conformance suites do.
 *
 * **Everything of one subject** (one entity and one resource) must share a slot, a row or an item: the states of
 * all its limits, and its part of each lease. Most `take` calls name one subject, and must then be a single atomic
 * step. With a parent, a call names two subjects, which may be stored apart. An engine that cannot change both at
 * once takes from the first, then from the second, and gives the first back if the second denies. In between,
 * other callers may be denied, but none is admitted over the limit. A crash in between leaves one cost used until
 * the limit refills.
 */
export interface LimitEngine {
  readonly counters: LimitStore
  readonly configs: LimitConfigStore
  readonly usage: UsageStore
}

/** One limit of a subject and the cost that the call takes from it, at most `rule.capacity`. 0 only reads. */
export interface LimitCost {
  name: string
  rule: Rule
  cost: number
  /** Takes the cost if available, and never denies. */
  shadow: boolean
}

export interface SubjectCosts extends Subject {
  limits: readonly LimitCost[]
}

export interface Taken {
  /** True: every enforcing limit admitted its cost, and all costs were taken. False: nothing was taken. */
  allowed: boolean
  /** The engine's time of the decision. It becomes part of the lease. */
  at: number
  /** Per subject, then per limit, in request order. If `retryAfterMs` is above 0, nothing was taken from that limit. */
  views: readonly (readonly LimitView[])[]
  /** What was taken from, if the engine stores the subjects in parts: a lease names the part and its rule. */
  from?: readonly SubjectCosts[]
}

/** One limit from which a lease took. */
export interface LeasedLimit {
  name: string
  rule: Rule
  /** The cost taken at first. */
  cost: number
  /** For `adjust`: the amount to add to the cost. */
  delta: number
}

/** The caller holds the lease. The engine learns of a lease at its first use, and forgets it when it expires. */
export interface LeaseUse {
  /** Globally unique. */
  id: string
  takenAt: number
  expiresAt: number
  subjects: readonly (Subject & { limits: readonly LeasedLimit[] })[]
}

/** `given-back`: the lease was given back earlier. `expired`: it has run out by the engine's clock. Neither changes anything. */
export type LeaseOutcome = 'done' | 'given-back' | 'expired'

/** Which subject's cached denials are no longer valid. Undefined: those of all subjects. */
export type Freed = Subject | undefined

export interface LimitStore {
  /**
   * The guard calls it once with no subjects before anything else. That call may take as
   * long as the engine needs to start.
   */
  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken>
  /**
   * Adds each `delta` to what the lease has taken, once per `adjustment` id. The engine remembers the last ids of
   * a lease, so a caller that does not know the outcome may retry. The total of a lease stays at 0 or above: the
   * engine cuts a delta that would go below, so a lease never gives back more than it took.
   */
  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome>
  /** Gives back everything the lease took, deltas included. */
  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome>
  /** Subjects with a recorded use, by the beginning of the entity; of one resource if it is given. */
  list(request: ListingRequest & { resource?: string }): Promise<Listing<Subject>>
  /** Deletes the recorded use. False if there was none. */
  reset(subject: Subject): Promise<boolean>
  /**
   * Notifies the listener, within a second, when a reset or give-back by any process frees capacity that was
   * denied. Returns a function that stops watching.
   */
  watch(listener: (freed: Freed) => void): () => void
  /**
   * Deletes states that no longer matter, in a small step. Engines that expire them themselves return `more: false`.
   */
  sweep(now: number): Promise<{ swept: number; more: boolean }>
}

export interface ConfigBatch {
  /** In request order. Undefined where the level has no configuration for the resource. */
  configs: readonly (LevelConfig | undefined)[]
  /** The record of the requested `entity`. */
  entity: EntityRecord | undefined
  schemaVersion: number
}

export interface ConfigPageRequest {
  /** The `next` of the previous page. */
  after?: ConfigKey
  /** How many records to read. */
  limit: number
  /** Only configurations of this resource. A page may then be empty although more follow. */
  resource?: string
  /** Also include records that other programs wrote and this one has not used yet, whatever the cost. */
  scan?: boolean
}

export interface ConfigPage {
  items: { key: ConfigKey; config: LevelConfig }[]
  /** Absent on the last page. */
  next?: ConfigKey
}

/** One record of a set of changes: what it becomes, undefined to remove it. */
export type ConfigSetStep = {
  /** `fingerprint` of the record that the change expects. Undefined: there must be none. */
  ifMatch: string | undefined
} & (
  | { key: ConfigKey; config: LevelConfig | undefined }
  | { entity: string; record: EntityRecord | undefined }
)

/** `at`: the steps whose records are not as expected. `changed`: how many steps were made nevertheless. */
export type ConfigSetOutcome = { outcome: 'changed' } | { outcome: 'conflict'; at: number[]; changed: number }

export interface EntityPage {
  items: { id: string; record: EntityRecord }[]
  /** Absent on the last page. */
  next?: string
}

export interface LimitConfigStore {
  /** One batch for everything. Sees earlier writes of this instance at once, and those of others soon. */
  read(keys: readonly ConfigKey[], entity: string | undefined): Promise<ConfigBatch>
  /** The configurations of a level, in the engine's own order. */
  list(level: Level, page: ConfigPageRequest): Promise<ConfigPage>
  write(key: ConfigKey, config: LevelConfig): Promise<void>
  /** False if there was none. */
  remove(key: ConfigKey): Promise<boolean>
  writeEntity(id: string, record: EntityRecord): Promise<void>
  removeEntity(id: string): Promise<boolean>
  /** The entities with a parent, in the engine's own order, starting after `after`. */
  listEntities(after: string | undefined, limit: number): Promise<EntityPage>
  /**
   * Makes all changes, or none if a record is not as expected. Each record is named once. An engine whose
   * transactions are too small for the set compares all records first, and then changes them in order: only there
   * `changed` can be above 0, and only there a crash can leave a part of the set made.
   */
  changeAll(steps: readonly ConfigSetStep[]): Promise<ConfigSetOutcome>
  /**
   * Raises the version of the stored schema and migrates the records. Does nothing if the version is already reached.
   */
  migrate(schemaVersion: number): Promise<void>
  /** Stores the candidate if no secret is stored yet, and returns the stored one. */
  secret(candidate: string): Promise<string>
  /**
   * Notifies the listener, within a second, of changes made by other instances. No key: any record may have
   * changed. Returns a function that stops watching.
   */
  watch(listener: (changed: ConfigKey | undefined) => void): () => void
}

/** Admitted and denied cost of one limit. */
export interface LimitUse {
  limit: string
  admitted: number
  denied: number
}

export interface EntityUse extends LimitUse {
  entity: string
}

/** Use of a resource in the hour that begins at `start`: the totals, and the entities with the highest use. */
export interface UsageHour {
  resource: string
  start: number
  totals: readonly LimitUse[]
  entities: readonly EntityUse[]
}

export interface UsageRetention {
  /** At least this many entities of an hour are stored, and at most twice as many. */
  entities: number
  /** How long an hour is stored. */
  ms: number
}

/** One record per resource and hour. Its size does not grow with the number of entities. */
export interface UsageStore {
  /** Adds to the stored counts. When an hour has too many entities, those with the lowest use are removed. */
  count(hours: readonly UsageHour[], kept: UsageRetention): Promise<void>
  /** Oldest first, `from` inclusive, `to` exclusive. Within an hour, sorted by entity and limit. */
  read(resource: string, from: number, to: number): Promise<UsageHour[]>
  /**
   * Deletes hours that began before `before`, in a small step. Engines that expire them
   * themselves return `more: false`.
   */
  forget(before: number): Promise<{ more: boolean }>
}
