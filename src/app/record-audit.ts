import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import type { TimedEngine } from '../guards/allowlist/index.js'
import type { AllowlistEngine } from '../guards/allowlist/port.js'
import { AuditTrail } from '../guards/audit/index.js'
import type { AuditStore } from '../guards/audit/port.js'
import { ALLOWLIST_CHANGES } from '../guards/audit/recorded-allowlists.js'
import { LIMIT_CHANGES } from '../guards/audit/recorded-limits.js'
import { boundedMembers, recordedMembers } from '../guards/audit/recorded-members.js'
import {
  CODE_CHANGES,
  IDEMPOTENCY_CHANGES,
  KEY_CHANGES,
  LOCK_CHANGES,
  TOKEN_CHANGES,
} from '../guards/audit/recorded-others.js'
import { type ChangeDescription, recording } from '../guards/audit/recording.js'
import { type AuditOptions, DEFAULT_AUDIT, MAX_RETENTION_DAYS } from '../guards/audit/types.js'
import type { Decoration } from './decorate.js'
import type { Guards } from './fields-of-calls.js'
import type { OpenAuditOptions } from './open-options.js'

interface Surroundings {
  clock: Clock
  /** How long a change and its audit entry may take together. */
  changeTimeoutMs: number
  report: (message: string, error: unknown) => void
}

/** Validates the options and adds the defaults. */
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

/** The changes of each guard. Caches are changed by traffic only, and the trail by what it records. */
const CHANGES: Record<keyof Guards, object> = {
  ...{ allowlists: ALLOWLIST_CHANGES, keys: KEY_CHANGES, limits: LIMIT_CHANGES },
  ...{ idempotency: IDEMPOTENCY_CHANGES, codes: CODE_CHANGES, tokens: TOKEN_CHANGES, locks: LOCK_CHANGES },
  ...{ cache: {}, audit: {} },
}

type Describe = (guard: object, ...args: unknown[]) => ChangeDescription<unknown, unknown>

/** Records the changes of a guard, if the trail is enabled, and applies the change timeout in any case. */
export function recorded(trail: AuditTrail, kind: keyof Guards, guard: object): Decoration {
  const changes = CHANGES[kind] as Partial<Record<string, Describe>>
  return (name, method) => {
    const describe = changes[name]
    if (describe === undefined) return method
    return (...args) => recording(trail, () => method(...args) as Promise<unknown>, describe(guard, ...args))
  }
}
