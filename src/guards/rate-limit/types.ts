import type { OnUnavailable } from '../allowlist/types.js'
import type { Algorithm } from './rule.js'

export type { OnUnavailable } from '../allowlist/types.js'

export interface Subject {
  entity: string
  resource: string
}

export type LimitMode = 'enforce' | 'shadow'

/** A limit as a level states it: what is absent is inherited. */
export interface Limit {
  /** Tokens of a bucket, calls of a window, or how many at once. */
  capacity?: number
  /** What a token bucket holds; at least `capacity`, which is the default. */
  burst?: number
  /** What comes back each period; `capacity` when no level says it. */
  refillAmount?: number
  /** The period of a bucket, the length of a window, or how long a slot is held at most. */
  refillPeriodSeconds?: number
  algorithm?: Algorithm
  mode?: LimitMode
}

export type Limits = Record<string, Limit>

/** What a level says of a resource. */
export interface LevelConfig {
  limits: Limits
  onUnavailable?: OnUnavailable
  /** On system only. */
  autoUpdate?: boolean
  /** On system only. */
  strictVersion?: boolean
  /** Limits that another program wrote and that cannot be used, with what is wrong; never given to `setConfig`. */
  unreadable?: Record<string, string>
}

export type Level = 'system' | 'resource' | 'entity'
export type ConfigKey =
  | { level: 'system' | 'resource'; resource: string }
  | { level: 'entity'; entity: string; resource: string }

export interface EntityRecord {
  parent: string
  /** Whether an acquire takes from the parent too. */
  cascade: boolean
}

/** Where a field comes from; `entity:*` and `system:*` are the defaults for all resources. */
export type FieldLevel = 'call' | Level | 'entity:*' | 'system:*' | 'defaults'

/** A number that a level inherits, and that its lower capacity caps. */
export interface Capped {
  /** What was stated. */
  stated: number
  /** The level whose capacity caps it. */
  by: FieldLevel
}

export type CappedFields = Partial<Record<'burst' | 'refillAmount', Capped>>

/** A limit with every field known. */
export interface EffectiveLimit {
  capacity: number
  burst: number
  refillAmount: number
  refillPeriodSeconds: number
  algorithm: Algorithm
  mode: LimitMode
}

/** The effective configuration, and for each field the level that it comes from. */
export interface ResolvedConfig {
  /** Absent: what holds for entities of which no level says anything. */
  entity?: string
  resource: string
  limits: Record<string, EffectiveLimit>
  onUnavailable: OnUnavailable
  autoUpdate: boolean
  strictVersion: boolean
  levels: {
    limits: Record<string, Record<keyof EffectiveLimit, FieldLevel>>
    onUnavailable: FieldLevel
    autoUpdate: FieldLevel
    strictVersion: FieldLevel
  }
  /** Numbers that are lower than the level says that they come from, by limit; absent where there are none. */
  capped?: Record<string, CappedFields>
  /** Limits of which a stored record cannot be used, with what is wrong: calls that name one are refused. */
  unreadable?: Record<string, string>
}

export interface LimitStatus {
  /** The most that can be there: what the bucket holds, what the window admits, how many may be at work. */
  limit: number
  remaining: number
  /** After so long without further calls everything is there again. */
  resetMs: number
}

/** What a caller may be told of a limit besides, for headers. */
export interface LimitPolicy {
  /** In so long `limit` may pass: a window, or the time that fills a bucket. Absent for concurrency. */
  windowSeconds?: number
  isConcurrency: boolean
}

export interface AcquireRequest extends Subject {
  /** Cost by name of the limit. Absent: 1 of each; a limit that is not named costs 0, and 0 only looks. */
  consume?: Record<string, number>
  /** Limits of this call, which win over stored ones, field by field. */
  limits?: Limits
  /** Take from the parent too; absent: as the entity's record says. */
  cascade?: boolean
  signal?: AbortSignal
}

/** What limits given in a call may do: be refused, only deny more than the configured ones, or take their place. */
export type InlineLimits = 'never' | 'tighten' | 'any'

export interface Violation {
  entity: string
  limit: string
  retryAfterMs: number
}

interface Answer {
  limits: Record<string, LimitStatus>
  /** By the same names; absent in answers of a server, which says it in headers. */
  policies?: Record<string, LimitPolicy>
  /** Of the parent, where the call took from it too. */
  parent?: { entity: string; limits: Record<string, LimitStatus> }
}

export interface Admitted extends Answer {
  allowed: true
  /** Sealed: `adjust` and `giveBack` take it. */
  readonly leaseId: string
  /** Limits in shadow mode that would have denied; nothing was taken of them. */
  shadowViolations?: Violation[]
  /** The engine did not answer, and the configuration says to go on. */
  degraded?: true
}

export interface Denied extends Answer {
  allowed: false
  violations: Violation[]
  /** Until all of them would admit the call. */
  retryAfterMs: number
}

export type AcquireAnswer = Admitted | Denied

export interface LeaseChange {
  /** False when the lease had been given back already; then nothing was changed. */
  applied: boolean
}

export type UsageStep = 'hour' | 'day'

export interface UsageEntry {
  limit: string
  /** ISO 8601, the start of the hour or day. */
  start: string
  admitted: number
  denied: number
}

/** Cost of one entity in the whole time that was asked for. */
export interface EntityUsage {
  entity: string
  limit: string
  admitted: number
  denied: number
}

/** What was used of a resource: all of it by hour or day, and its heaviest entities, the heaviest first. */
export interface ResourceUsage {
  items: UsageEntry[]
  entities: EntityUsage[]
}

/** How often an entity was denied by one limit. */
export interface DeniedEntity extends Subject {
  limit: string
  denied: number
}

/** The entities most often denied in this process, the most first. */
export interface TopDenied {
  /** ISO 8601: an hour ago, or when the process began. */
  since: string
  items: DeniedEntity[]
}
