import type { Algorithm } from './rule.js'

/**
 * What an acquire does when the engine does not answer: it passes, is an error, or takes from the share of each limit
 * that this process enforces by itself.
 */
export const LIMITS_ON_UNAVAILABLE = ['allow', 'block', 'local'] as const
export type LimitsOnUnavailable = (typeof LIMITS_ON_UNAVAILABLE)[number]

export interface Subject {
  entity: string
  resource: string
}

export type LimitMode = 'enforce' | 'shadow'

/** A limit as a level configures it. Absent fields are inherited. */
export type Limit = BucketLimit | OtherLimit

interface AnyLimit {
  /** Tokens of a bucket, calls per window, or concurrent calls. */
  capacity?: number
  /** Tokens added to a bucket each period. Default: `capacity`. */
  refillAmount?: number
  /** The refill period of a bucket, the length of a window, or the longest time a concurrency slot is held. */
  refillPeriodSeconds?: number
  mode?: LimitMode
}

/** A token bucket, or a limit whose algorithm is inherited. */
export interface BucketLimit extends AnyLimit {
  algorithm?: 'token-bucket'
  /** The most tokens a bucket can hold. At least `capacity`, which is the default. */
  burst?: number
}

/** Windows and concurrent calls admit their capacity, no burst. */
export interface OtherLimit extends AnyLimit {
  algorithm: Exclude<Algorithm, 'token-bucket'>
  burst?: never
}

export type Limits = Record<string, Limit>

/** The configuration of a resource at one level. */
export interface LevelConfig {
  limits: Limits
  onUnavailable?: LimitsOnUnavailable
  /** System level only. */
  autoUpdate?: boolean
  /** System level only. */
  strictVersion?: boolean
  /** Limits that another program wrote and that cannot be used, with the reason. Never passed to `setConfig`. */
  unreadable?: Record<string, string>
}

export type Level = 'system' | 'resource' | 'entity'
export type ConfigKey =
  | { level: 'system' | 'resource'; resource: string }
  | { level: 'entity'; entity: string; resource: string }

export interface EntityRecord {
  parent: string
  /** Whether an acquire also takes from the parent. */
  cascade: boolean
}

/** The level that a field comes from. `entity:*` and `system:*` are the defaults for all resources. */
export type FieldLevel = 'call' | Level | 'entity:*' | 'system:*' | 'defaults'

/** An inherited number that was capped by the lower capacity of a level with higher priority. */
export interface Capped {
  /** The configured number. */
  stated: number
  /** The level whose capacity caps it. */
  by: FieldLevel
}

export type CappedFields = Partial<Record<'burst' | 'refillAmount', Capped>>

/** A limit with every field resolved. */
export interface EffectiveLimit {
  capacity: number
  burst: number
  refillAmount: number
  refillPeriodSeconds: number
  algorithm: Algorithm
  mode: LimitMode
}

/** The effective configuration, and the level that each field comes from. */
export interface ResolvedConfig {
  /** Absent: the configuration for entities that have none of their own. */
  entity?: string
  resource: string
  limits: Record<string, EffectiveLimit>
  onUnavailable: LimitsOnUnavailable
  autoUpdate: boolean
  strictVersion: boolean
  levels: {
    limits: Record<string, Record<keyof EffectiveLimit, FieldLevel>>
    onUnavailable: FieldLevel
    autoUpdate: FieldLevel
    strictVersion: FieldLevel
  }
  /** By limit: numbers that are lower than configured, because a lower capacity caps them. Absent if there are none. */
  capped?: Record<string, CappedFields>
  /** Limits whose stored record cannot be used, with the reason. Calls that name one are refused. */
  unreadable?: Record<string, string>
}

export interface LimitStatus {
  /** The maximum: what the bucket holds, what the window admits, or how many calls may run at once. */
  limit: number
  remaining: number
  /** Time until the limit is full again if no further calls come. */
  resetMs: number
}

/** Further facts about a limit, for response headers. */
export interface LimitPolicy {
  /** The time in which `limit` may pass: the window, or the time to fill a bucket. Absent for concurrency. */
  windowSeconds?: number
  isConcurrency: boolean
}

export interface AcquireRequest extends Subject {
  /** Cost by limit name. Absent: 1 of each limit. A limit that is not named costs 0, and 0 only reads. */
  consume?: Record<string, number>
  /** Limits for this call only. They override stored ones field by field. */
  limits?: Limits
  /** Also take from the parent. Absent: the entity's record decides. */
  cascade?: boolean
  signal?: AbortSignal
}

/**
 * What limits given in a call may do. `never`: they are refused. `tighten`: they may only be stricter than the
 * configured ones. `any`: they replace them.
 */
export type InlineLimits = 'never' | 'tighten' | 'any'

export interface Violation {
  entity: string
  limit: string
  retryAfterMs: number
}

interface Answer {
  limits: Record<string, LimitStatus>
  /** By limit name. Absent in HTTP responses, which use headers instead. */
  policies?: Record<string, LimitPolicy>
  /** The parent's limits, if the call also took from it. */
  parent?: { entity: string; limits: Record<string, LimitStatus> }
}

export interface Admitted extends Answer {
  allowed: true
  /** Encrypted token for `adjust` and `giveBack`. */
  readonly leaseId: string
  /** Limits in shadow mode that would have denied. Nothing was taken from them. */
  shadowViolations?: Violation[]
  /** The engine did not answer: the configuration says to admit, or this process decided by its share of the limits. */
  degraded?: true
}

export interface Denied extends Answer {
  allowed: false
  violations: Violation[]
  /** When all of them would admit the call. */
  retryAfterMs: number
  /** The engine did not answer: this process decided by its share of the limits. */
  degraded?: true
}

export type AcquireAnswer = Admitted | Denied

export interface LeaseChange {
  /** False: the lease had already been given back, and nothing was changed. */
  applied: boolean
}

export type UsageStep = 'hour' | 'day'

export interface UsageEntry {
  limit: string
  /** ISO 8601: the start of the hour or day. */
  start: string
  admitted: number
  denied: number
}

/** Use by one entity over the whole requested time. */
export interface EntityUsage {
  entity: string
  limit: string
  admitted: number
  denied: number
}

/** Use of a resource: totals by hour or day, and the entities with the highest use, highest first. */
export interface ResourceUsage {
  items: UsageEntry[]
  entities: EntityUsage[]
}

/** How often one limit denied an entity. */
export interface DeniedEntity extends Subject {
  limit: string
  denied: number
}

/** The entities denied most often in this process, most denied first. */
export interface TopDenied {
  /** ISO 8601: an hour ago, or the start of the process. */
  since: string
  items: DeniedEntity[]
}
