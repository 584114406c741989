import { keySuite } from './access.js'
import { bulkSuite } from './allowlist/bulk.js'
import { changeSuite } from './allowlist/changes.js'
import { checkSuite } from './allowlist/checks.js'
import { listSuite } from './allowlist/lists.js'
import { memberSuite } from './allowlist/members.js'
import { indexSuite } from './allowlist/membership-index.js'
import { auditSuite } from './audit.js'
import { cacheEntrySuite } from './cache/entries.js'
import { cacheFillSuite } from './cache/fills.js'
import { cacheSpaceSuite } from './cache/spaces.js'
import { idempotencyClaimSuite } from './idempotency/claims.js'
import { idempotencyOwnerSuite } from './idempotency/owners.js'
import { idempotencyResponseSuite } from './idempotency/responses.js'
import { lockSuite } from './lock/locks.js'
import { codeSuite } from './one-time-code.js'
import { limitConfigSuite } from './rate-limit/configs.js'
import { limitSuite } from './rate-limit/counters.js'
import { limitLeaseSuite } from './rate-limit/leases.js'
import { usageSuite } from './rate-limit/usage.js'
import { tokenSuite } from './token-denylist.js'

export type { LockScene } from './lock/support.js'
export type { Case, OpenPair, Pair, Runner, Suite } from './suite.js'
export { register } from './suite.js'
export { IDENTIFIER_VECTORS, type IdentifierVector } from './vectors/identifier-encoding.js'

/** Suites for an engine that stores allowlists. */
export const allowlistSuites = [listSuite, memberSuite, checkSuite, bulkSuite, changeSuite, indexSuite]
/** Suites for an engine that stores API keys. */
export const accessSuites = [keySuite]
/** Suites for an engine that stores idempotency records. */
export const idempotencySuites = [idempotencyClaimSuite, idempotencyOwnerSuite, idempotencyResponseSuite]
/** Suites for an engine that stores rate limits: counters, configuration and usage. */
export const limitSuites = {
  counters: [limitSuite, limitLeaseSuite],
  configs: [limitConfigSuite],
  usage: [usageSuite],
}
/** Suites for an engine that stores one-time codes. */
export const codeSuites = [codeSuite]
/** Suites for an engine that stores revoked tokens. */
export const tokenSuites = [tokenSuite]
/** Suites for an engine that stores the audit trail. */
export const auditSuites = [auditSuite]
/** Suites for an engine that stores locks. */
export const lockSuites = [lockSuite]
/** Suites for an engine that stores the second tier of caches. */
export const cacheSuites = [cacheEntrySuite, cacheFillSuite, cacheSpaceSuite]
