import type { ApiKeys } from './access/keys.js'
import type { Allowlists } from './allowlist/allowlists.js'
import { recordAllowlists } from './audit/recorded-allowlists.js'
import { recordLimits } from './audit/recorded-limits.js'
import { recordIdempotency, recordKeys, recordLocks, recordTokens } from './audit/recorded-others.js'
import { AuditTrail } from './audit/trail.js'
import { type AuditOptions, DEFAULT_AUDIT } from './audit/types.js'
import type { Clock } from './clock.js'
import type { Idempotency } from './idempotency/idempotency.js'
import type { Locks } from './lock/locks.js'
import type { StoreEngine } from './open-engine.js'
import type { RateLimits } from './rate-limit/limits.js'
import type { TokenDenylist } from './token-denylist/denylist.js'

export interface OpenAuditOptions extends Partial<AuditOptions> {
  /** A store URL, when the trail is kept elsewhere than the rest. */
  store?: string
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** What is changed by people rather than by traffic. */
export interface RecordedGuards {
  allowlists: Allowlists
  keys: ApiKeys
  limits: RateLimits
  idempotency: Idempotency
  tokens: TokenDenylist
  locks: Locks
}

/** The trail over its engine, recording what these guards change. */
export function openAudit(
  { store: _, ...given }: OpenAuditOptions,
  { audit }: StoreEngine,
  guards: RecordedGuards,
  around: Surroundings,
): AuditTrail {
  const options = { ...DEFAULT_AUDIT, ...given }
  const trail = new AuditTrail({ ...around, store: audit, options })
  if (!options.enabled) return trail
  recordAllowlists(guards.allowlists, trail, options.members)
  recordKeys(guards.keys, trail)
  recordLimits(guards.limits, trail)
  recordIdempotency(guards.idempotency, trail)
  recordTokens(guards.tokens, trail)
  recordLocks(guards.locks, trail)
  return trail
}
