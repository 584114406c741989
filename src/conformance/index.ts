import { keySuite } from './access.js'
import { bulkSuite } from './allowlist/bulk.js'
import { changeSuite } from './allowlist/changes.js'
import { checkSuite } from './allowlist/checks.js'
import { listSuite } from './allowlist/lists.js'
import { memberSuite } from './allowlist/members.js'
import { indexSuite } from './allowlist/membership-index.js'
import { lastKnownSuite } from './allowlist/outages.js'
import { auditSuite } from './audit.js'
import { cacheEntrySuite } from './cache/entries.js'
import { cacheFillSuite } from './cache/fills.js'
import { cacheSpaceSuite } from './cache/spaces.js'
import { fleetSuite } from './fleet.js'
import { idempotencyClaimSuite } from './idempotency/claims.js'
import { idempotencyOwnerSuite } from './idempotency/owners.js'
import { idempotencyResponseSuite } from './idempotency/responses.js'
import { lockSuite } from './lock/locks.js'
import { codeSuite } from './one-time-code.js'
import { limitConfigSuite } from './rate-limit/configs.js'
import { limitSuite } from './rate-limit/counters.js'
import { limitLeaseSuite } from './rate-limit/leases.js'
import { localLimitSuite } from './rate-limit/outages.js'
import { usageSuite } from './rate-limit/usage.js'
import { sessionSuite } from './sessions.js'
import { tokenSuite } from './token-denylist.js'

export type { LockScene } from './lock/support.js'
export type { Case, OpenPair, Pair, Runner, Suite } from './suite.js'
export { register } from './suite.js'
export { IDENTIFIER_VECTORS, type IdentifierVector } from './vectors/identifier-encoding.js'

/** Suites for an engine that stores allowlists. */
export const allowlistSuites = [
  ...[listSuite, memberSuite, checkSuite, bulkSuite, changeSuite, indexSuite],
  lastKnownSuite,
]
/** Suites for an engine that stores API keys. */
export const accessSuites = [keySuite]
/** Suites for an engine that stores sessions of people. */
export const sessionSuites = [sessionSuite]
/** Suites for an engine that stores idempotency records. */
export const idempotencySuites = [idempotencyClaimSuite, idempotencyOwnerSuite, idempotencyResponseSuite]
/** Suites for an engine that stores rate limits: counters, configuration and usage. */
export const limitSuites = {
  counters: [limitSuite, limitLeaseSuite],
  configs: [limitConfigSuite],
  usage: [usageSuite],
  /** Over all three: what the guard decides while the store is away. */
  outages: [localLimitSuite],
}
/** Suites for an engine that stores one-time codes. */
export const codeSuites = [codeSuite]
/** Suites for an engine that stores revoked tokens. */
export const tokenSuites = [tokenSuite]
/** Suites for an engine that stores the audit trail. */
export const auditSuites = [auditSuite]
/** Suites for an engine in which processes find each other. */
export const fleetSuites = [fleetSuite]
/** Suites for an engine that stores locks. */
export const lockSuites = [lockSuite]
/** Suites for an engine that stores the second tier of caches. */
export const cacheSuites = [cacheEntrySuite, cacheFillSuite, cacheSpaceSuite]
