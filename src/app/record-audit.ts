import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import type { ApiKeys } from '../guards/access/index.js'
import type { Allowlists, TimedEngine } from '../guards/allowlist/index.js'
import { AuditTrail } from '../guards/audit/index.js'
import { recordAllowlists } from '../guards/audit/recorded-allowlists.js'
import { recordLimits } from '../guards/audit/recorded-limits.js'
import { boundedMembers, recordedMembers } from '../guards/audit/recorded-members.js'
import {
  recordCodes,
  recordIdempotency,
  recordKeys,
  recordLocks,
  recordTokens,
} from '../guards/audit/recorded-others.js'
import { type AuditOptions, DEFAULT_AUDIT, MAX_RETENTION_DAYS } from '../guards/audit/types.js'
import type { Idempotency } from '../guards/idempotency/index.js'
import type { Locks } from '../guards/lock/index.js'
import type { OneTimeCodes } from '../guards/one-time-code/index.js'
import type { RateLimits } from '../guards/rate-limit/index.js'
import type { TokenDenylist } from '../guards/token-denylist/index.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenAuditOptions extends Partial<AuditOptions> {
  /** A store URL, if the trail is in another store than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  /** How long a change and its audit entry may take together. */
  changeTimeoutMs: number
  report: (message: string, error: unknown) => void
}

/** The guards with changes made by people rather than by traffic. */
export interface RecordedGuards {
  allowlists: Allowlists
  keys: ApiKeys
  limits: RateLimits
  idempotency: Idempotency
  codes: OneTimeCodes
  tokens: TokenDenylist
  locks: Locks
}

/** Completes and validates the options, before anything is opened that would have to be closed again. */
export function auditOptions({ store: _, ...given }: OpenAuditOptions = {}): AuditOptions {
  const options = { ...DEFAULT_AUDIT, ...given }
  const { retentionDays } = options
  if (!Number.isInteger(retentionDays) || retentionDays < 1 || retentionDays > MAX_RETENTION_DAYS) {
    const message = `audit.retentionDays must be a whole number from 1 to ${MAX_RETENTION_DAYS}`
    throw new CatracaError('CONFIG_INVALID', message)
  }
  return options
}

/**
 * Opens the trail, and wraps the member store of the allowlist engine so that changes of single members are recorded.
 */
export function openAudit(
  options: AuditOptions,
  { audit: store }: StoreEngine,
  { audit: beside, allowlists }: StoreEngine,
  around: Surroundings,
): { audit: AuditTrail; allowlistEngine: TimedEngine } {
  const audit = new AuditTrail({ ...around, store, options })
  if (!options.enabled || !options.members) {
    return { audit, allowlistEngine: { ...allowlists, members: boundedMembers(allowlists.members, audit) } }
  }
  const members = recordedMembers(allowlists.members, audit, store === beside)
  return { audit, allowlistEngine: { ...allowlists, members } }
}

/** Makes the trail record the changes of these guards, if enabled, and applies the change timeout in any case. */
export function recordGuards(trail: AuditTrail, guards: RecordedGuards): void {
  recordAllowlists(guards.allowlists, trail)
  recordKeys(guards.keys, trail)
  recordLimits(guards.limits, trail)
  recordIdempotency(guards.idempotency, trail)
  recordCodes(guards.codes, trail)
  recordTokens(guards.tokens, trail)
  recordLocks(guards.locks, trail)
}
