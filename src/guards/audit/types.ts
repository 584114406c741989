/** The public vocabulary of the audit trail. */

/** Who: an API key, a caller of a server without keys, a command on a store, or the program that holds the library. */
export interface Actor {
  kind: 'key' | 'anonymous' | 'cli' | 'library'
  name: string
  /** Of an API key, as `GET /keys` shows it: names can be given again, ids cannot. */
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

/** What was changed. The id of a limit is its resource, that of an idempotency record its key. */
export interface AuditTarget {
  kind: TargetKind
  id: string
  /** Of a change of one member. */
  customerId?: string
  /** Of limits: whose they are, and on which level. */
  entity?: string
  level?: string
  /** Of an idempotency record. */
  operation?: string
  /** Of a one-time code, whose id stands for its address. */
  channel?: string
}

/** `unknown`: the store did not say whether the change was made. `partial`: it broke off, and a part was made. */
export type AuditOutcome = 'unknown' | 'partial'

export interface AuditEntry {
  /** Grows with time; of one millisecond, in the order of one process. */
  id: string
  /** ISO 8601, by the clock of the process that made the change. */
  at: string
  actor: Actor
  action: AuditAction
  target: AuditTarget
  /** The fields that the change was about, as they were and as they are. What is too large is cut, with a mark. */
  before?: unknown
  after?: unknown
  /** Absent: the change was made. */
  outcome?: AuditOutcome
  /** Of the HTTP request. */
  requestId?: string
  /** Where the caller chose that id, which then need not be the only one of its kind; absent: the server made it. */
  requestIdFrom?: 'caller'
  detail?: Record<string, unknown>
}

export interface AuditQuery {
  /** `KIND:ID`, such as `allowlist:vip`; `customer:ID` finds the changes of one member on every list. */
  target?: string
  /** The name of who did it, or the id of their key. */
  actor?: string
  /** Part of the id of what was changed, of the customer or the entity, or of the name of who did it, in any case. */
  search?: string
  /** One action, or all that begin with it: `allowlist.member`. */
  action?: string
  /** ISO 8601: from then on … */
  from?: string
  /** … and before then. */
  to?: string
  limit?: number
  cursor?: string
}

export interface AuditPage {
  /** The newest first. May be empty where there are more: the work of one call is bounded. */
  items: AuditEntry[]
  nextCursor?: string
}

export interface AuditOptions {
  /** Whether changes are recorded; what was recorded can be read all the same. */
  enabled: boolean
  retentionDays: number
  /** Whether single members that are added and removed are recorded too. */
  members: boolean
  /** What becomes of a change whose entry could not be written: it stands, and its caller is told of it or not. */
  onFailure: 'report' | 'fail'
  /** Who makes the changes that nobody is named for. */
  actor: Actor
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
  /** Written by this process, by action. */
  entries: Partial<Record<AuditAction, number>>
  /** Entries that could not be written. */
  failures: number
}
