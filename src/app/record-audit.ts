import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import type { TimedEngine } from '../guards/allowlist/index.js'
import { AuditTrail } from '../guards/audit/index.js'
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
import type { Guards } from './checked-calls.js'
import type { Decoration } from './decorate.js'
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
