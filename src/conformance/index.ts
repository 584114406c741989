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

/** What an engine that keeps allowlists must pass. */
export const allowlistSuites = [listSuite, memberSuite, checkSuite, bulkSuite, changeSuite, indexSuite]
/** What an engine that keeps API keys must pass. */
export const accessSuites = [keySuite]
/** What an engine that keeps idempotency records must pass. */
export const idempotencySuites = [idempotencyClaimSuite, idempotencyOwnerSuite, idempotencyResponseSuite]
/** What an engine that keeps rate limits must pass: counters, configuration and usage. */
export const limitSuites = {
  counters: [limitSuite, limitLeaseSuite],
  configs: [limitConfigSuite],
  usage: [usageSuite],
}
/** What an engine that keeps one-time codes must pass. */
export const codeSuites = [codeSuite]
/** What an engine that keeps revoked tokens must pass. */
export const tokenSuites = [tokenSuite]
/** What an engine that keeps the audit trail must pass. */
export const auditSuites = [auditSuite]
/** What an engine that keeps locks must pass. */
export const lockSuites = [lockSuite]
/** What an engine that keeps the second tier of caches must pass. */
export const cacheSuites = [cacheEntrySuite, cacheFillSuite, cacheSpaceSuite]
