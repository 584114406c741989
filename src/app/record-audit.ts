import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import type { ApiKeys } from '../guards/access/index.js'
import type { Allowlists, TimedEngine } from '../guards/allowlist/index.js'
import type { AllowlistEngine } from '../guards/allowlist/port.js'
import { AuditTrail } from '../guards/audit/index.js'
import type { AuditStore } from '../guards/audit/port.js'
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
import type { OpenAuditOptions } from './open-options.js'
import type { Offered } from './open-ports.js'

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

/** Of a trail that is off because no store keeps it: nobody calls this. */
const NOWHERE: AuditStore = {
  append: async () => {},
  read: async () => ({ entries: [] }),
  sweep: async () => ({ more: false }),
}

/** Opens the trail. Without a store it records nothing, and only bounds how long changes take. */
export function openAudit(
  store: AuditStore | undefined,
  options: AuditOptions,
  around: Surroundings,
): AuditTrail {
  const enabled = options.enabled && store !== undefined
  return new AuditTrail({ ...around, store: store ?? NOWHERE, options: { ...options, enabled } })
}

/**
 * The allowlist engine with changes of single members recorded. `isTogether`: the trail is in the same store as the
 * members.
 */
export function recordMembers(
  allowlists: AllowlistEngine,
  trail: AuditTrail,
  { members: isRecording }: AuditOptions,
  isTogether: boolean,
): TimedEngine {
  const members =
    trail.isEnabled && isRecording
      ? recordedMembers(allowlists.members, trail, isTogether)
      : boundedMembers(allowlists.members, trail)
  const { lists, checks, bulk, changes, index, upkeep } = allowlists
  return { lists, members, checks, bulk, changes, index, upkeep }
}

/** Makes the trail record the changes of these guards, if enabled, and applies the change timeout in any case. */
export function recordGuards(trail: AuditTrail, guards: Offered<RecordedGuards>): void {
  const { allowlists, keys, limits, idempotency, codes, tokens, locks } = guards
  if (allowlists) recordAllowlists(allowlists, trail)
  if (keys) recordKeys(keys, trail)
  if (limits) recordLimits(limits, trail)
  if (idempotency) recordIdempotency(idempotency, trail)
  if (codes) recordCodes(codes, trail)
  if (tokens) recordTokens(tokens, trail)
  if (locks) recordLocks(locks, trail)
}
