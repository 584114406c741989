/** Public types of the audit trail. */

/**
 * Who made a change: an API key, a person who signed in, a caller of a server without keys, a CLI command, or a program that uses the library.
 */
export interface Actor {
  kind: 'key' | 'person' | 'anonymous' | 'cli' | 'library'
  name: string
  /** Id of an API key, as `GET /keys` shows it, or subject of a person. Names can be reused, ids cannot. */
  id?: string
}

export const AUDIT_ACTIONS = [
  'allowlist.create',
  'allowlist.update',
  'allowlist.pause',
  'allowlist.resume',
  'allowlist.delete',
  'allowlist.import',
  'allowlist.rebuild',
  'allowlist.reshard',
  'allowlist.member.add',
  'allowlist.member.remove',
  'limit.config.set',
  'limit.config.delete',
  'limit.reset',
  'entity.set',
  'entity.delete',
  'key.create',
  'key.update',
  'key.revoke',
  'key.unlock',
  'idempotency.delete',
  'lock.break',
  'code.revoke',
  'token.revoke',
  'subject.revoke',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export type TargetKind =
  | 'allowlist'
  | 'limit'
  | 'entity'
  | 'key'
  | 'idempotency'
  | 'lock'
  | 'code'
  | 'token'
  | 'subject'

/** What was changed. For a limit, `id` is its resource; for an idempotency record, its key. */
export interface AuditTarget {
  kind: TargetKind
  id: string
  /** For a change of one member. */
  customerId?: string
  /** For limits: the entity and the level. */
  entity?: string
  level?: string
  /** For an idempotency record. */
  operation?: string
  /** For a one-time code, whose `id` is a keyed hash that replaces the address. */
  channel?: string
}

/** `unknown`: the store did not confirm whether the change was made. `partial`: it stopped midway. */
export type AuditOutcome = 'unknown' | 'partial'

export interface AuditEntry {
  /** Increases with time. Within one millisecond, ids of one process keep their order. */
  id: string
  /** ISO 8601, by the clock of the process that made the change. */
  at: string
  actor: Actor
  action: AuditAction
  target: AuditTarget
  /** The changed fields, before and after. Large values are truncated, with a mark. */
  before?: unknown
  after?: unknown
  /** What differs, field by field: derived from `before` and `after`. Absent if they are. */
  changes?: AuditDifference[]
  /** Why, in the words of whoever made the change. */
  reason?: string
  /** Absent: the change was made. */
  outcome?: AuditOutcome
  /** Id of the HTTP request. */
  requestId?: string
  /** Present if the caller chose the request id, which then may not be unique. Absent: the server made it. */
  requestIdFrom?: 'caller'
  detail?: Record<string, unknown>
}

export interface AuditDifference {
  /** Such as `config.percentage`. */
  field: string
  /** Absent: the field had no value, or has none. */
  before?: unknown
  after?: unknown
}

export interface AuditQuery {
  /** `KIND:ID`, such as `allowlist:vip`. `customer:ID` finds the changes of one member on every list. */
  target?: string
  /** The name of the actor, or the id of its key. */
  actor?: string
  /** Case-insensitive part of the target's id, of the customer or entity, of the actor's name, or of the reason. */
  search?: string
  /** One action, or a prefix: `allowlist.member` matches all actions on members. */
  action?: string
  /** ISO 8601, inclusive. */
  from?: string
  /** ISO 8601, exclusive. */
  to?: string
  limit?: number
  cursor?: string
}

export interface AuditPage {
  /** Newest first. May be empty although there is a next page, because the work of one call is bounded. */
  items: AuditEntry[]
  nextCursor?: string
}

export interface AuditOptions {
  /** Whether changes are recorded. Recorded entries can be read in any case. */
  enabled: boolean
  retentionDays: number
  /** Whether adding and removing single members is recorded. */
  members: boolean
  /**
   * What happens when the entry of a change cannot be written. The change is not undone. `report` only reports the
   * failure; `fail` also returns an error to the caller.
   */
  onFailure: 'report' | 'fail'
  /** The actor of changes made outside `as`, and why it makes them. */
  actor: Actor
  reason?: string
}

export const DEFAULT_AUDIT: AuditOptions = {
  enabled: true,
  retentionDays: 90,
  members: true,
  onFailure: 'report',
  actor: { kind: 'library', name: 'library' },
}

export const MAX_RETENTION_DAYS = 3650

export interface AuditStats {
  /** Entries written by this process, by action. */
  entries: Partial<Record<AuditAction, number>>
  failures: number
}
