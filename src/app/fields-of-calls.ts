import type { Fields } from '../core/fields.js'
import type { ListingQuery } from '../core/listing.js'
import type { ApiKeys } from '../guards/access/index.js'
import type { Allowlists } from '../guards/allowlist/index.js'
import { CHECK_FIELDS } from '../guards/allowlist/input.js'
import type * as Lists from '../guards/allowlist/types.js'
import type { AuditTrail } from '../guards/audit/index.js'
import type { AuditQuery } from '../guards/audit/types.js'
import type { Caches } from '../guards/cache/index.js'
import { ENTRY_FIELDS } from '../guards/cache/options.js'
import type { CacheSpace } from '../guards/cache/space.js'
import type { LeaseOptions } from '../guards/cache/types.js'
import type { Idempotency } from '../guards/idempotency/index.js'
import type * as Records from '../guards/idempotency/types.js'
import type { Locks } from '../guards/lock/index.js'
import type { AcquireOptions, WithLockOptions } from '../guards/lock/types.js'
import type { OneTimeCodes } from '../guards/one-time-code/index.js'
import type { CodeAddress } from '../guards/one-time-code/types.js'
import { ACQUIRE_FIELDS } from '../guards/rate-limit/acquirer.js'
import type { ConfigAddress, UsageQuery } from '../guards/rate-limit/api.js'
import type { RateLimits } from '../guards/rate-limit/index.js'
import type { TokenDenylist } from '../guards/token-denylist/index.js'
import { QUESTION_FIELDS } from '../guards/token-denylist/input.js'
import type { RevokedToken } from '../guards/token-denylist/types.js'
import { type Calls, PLAIN, SELF_CHECKED } from './call-rules.js'

const PAGE: Fields<Lists.PageRequest> = { limit: true, cursor: true }

const LABELS: Fields<Lists.ListLabels> = { tags: true, owner: true, description: true }

const LISTING: Fields<ListingQuery> = { ...PAGE, prefix: true }

const ALLOWLISTS: Calls<Allowlists> = {
  create: { 0: { needed: { id: true, name: true, type: true, config: true, precision: true, ...LABELS } } },
  get: {},
  list: {
    0: {
      optional: {
        ...{ ...PAGE, search: true, prefix: true, tag: true, owner: true, type: true, state: true },
        ...{ nextStepBefore: true, sort: true, order: true },
      },
    },
  },
  usedBy: {},
  update: { 1: { needed: { name: true, config: true, ...LABELS } }, 2: { optional: { ifVersion: true } } },
  pause: {},
  resume: { 1: { optional: { ifVersion: true, shift: true } } },
  delete: {},
  changeAll: { 0: { each: { id: true, ifVersion: true, list: true } } },
  add: { 2: { optional: { addedBy: true, metadata: true, expiresAt: true } } },
  remove: {},
  member: {},
  members: { 1: { optional: { ...PAGE, prefix: true } } },
  listsOf: { 1: { optional: PAGE } },
  reshard: { 2: { optional: { signal: true, onProgress: true } } },
  resharding: {},
  import: {
    2: {
      optional: {
        ...{ mode: true, format: true, importId: true, gzip: true, addedBy: true, maxErrors: true },
        ...{ column: true, signal: true, onProgress: true },
      },
    },
  },
  importStatus: {},
  imports: { 1: { optional: { limit: true } } },
  index: {},
  rebuild: {},
  check: SELF_CHECKED,
  explain: {},
  explainAll: { 1: { optional: { ...PAGE, type: true, outcome: true } } },
  sample: { 1: { optional: { limit: true } } },
  checkMany: { 0: { needed: { customerIds: true, allowlists: true } }, 1: { optional: CHECK_FIELDS } },
  ...{ checkNow: PLAIN, export: PLAIN, figures: PLAIN, flags: PLAIN },
}

const KEYS: Calls<ApiKeys> = {
  create: { 0: { needed: { name: true, scopes: true, expiresAt: true } } },
  update: { 1: { needed: { scopes: true, expiresAt: true } } },
  list: {},
  revoke: {},
  unlock: {},
  stored: {},
  used: { 0: { needed: { name: true, hash: true } } },
  ...{ reserve: PLAIN, createdBy: PLAIN, now: PLAIN },
}

const ADDRESS: Fields<ConfigAddress> = { level: true, entity: true, identifier: true, resource: true }

const USAGE: Fields<UsageQuery> = { step: true, from: true, to: true }

const LIMITS: Calls<RateLimits> = {
  warmUp: {},
  acquire: SELF_CHECKED,
  withLease: { 0: { needed: ACQUIRE_FIELDS } },
  hold: { 0: { needed: ACQUIRE_FIELDS } },
  adjust: { 2: { optional: { adjustmentId: true } } },
  giveBack: {},
  costOfEach: { 0: { needed: ACQUIRE_FIELDS } },
  status: { 2: { optional: { limits: true } } },
  subjects: { 0: { optional: { ...LISTING, resource: true } } },
  reset: {},
  usage: { 2: { optional: USAGE } },
  resourceUsage: { 1: { optional: USAGE } },
  getConfig: { 0: { needed: ADDRESS } },
  listConfigs: { 0: { needed: { ...PAGE, level: true, resource: true, scan: true } } },
  setConfig: {
    0: { needed: ADDRESS },
    1: {
      needed: { limits: true, onUnavailable: true, autoUpdate: true, strictVersion: true, unreadable: true },
    },
  },
  deleteConfig: { 0: { needed: ADDRESS } },
  changeConfigs: { 0: { each: { ...ADDRESS, config: true, ifMatch: true } } },
  resolveConfig: {},
  getEntity: {},
  setEntity: { 1: { needed: { parent: true, cascade: true } } },
  deleteEntity: {},
  listEntities: { 0: { optional: PAGE } },
  changeEntities: { 0: { each: { id: true, record: true, ifMatch: true } } },
  sweep: {},
  close: {},
  ...{ decisions: PLAIN, invalidateConfigCache: PLAIN, stats: PLAIN, topDenied: PLAIN },
}

const RECORD: Fields<Records.RecordKey> = { operation: true, key: true }
const REQUEST: Fields<Records.IdempotentRequest> = {
  ...RECORD,
  ...{
    payload: true,
    rawPayload: true,
    requestHash: true,
    leaseMs: true,
    expirySeconds: true,
    onLeaseExpired: true,
  },
}
/** Also accepted where the key of a record is enough, so that a caller can pass its whole request. */
const HOLD: Fields<Records.HoldRequest> = { ...REQUEST, waitMs: true, signal: true, onUnavailable: true }

const IDEMPOTENCY: Calls<Idempotency> = {
  run: { 0: { needed: { ...HOLD, ending: { ofValue: true, ofError: true } } } },
  hold: { 0: { needed: HOLD } },
  begin: { 0: { needed: REQUEST } },
  complete: { 0: { needed: HOLD } },
  fail: { 0: { needed: HOLD } },
  release: { 0: { needed: HOLD } },
  extend: { 0: { needed: HOLD } },
  get: { 0: { needed: HOLD } },
  list: {
    0: {
      optional: { ...LISTING, operation: true, status: true, leaseEnded: true, olderThanSeconds: true },
    },
  },
  delete: { 0: { needed: HOLD } },
  sweep: {},
  ...{ stats: PLAIN },
}

const CODE: Fields<CodeAddress> = { channel: true, address: true, purpose: true }

const CODES: Calls<OneTimeCodes> = {
  issue: { 0: { needed: CODE } },
  verify: { 0: { needed: { ...CODE, code: true } } },
  status: { 0: { needed: CODE } },
  revoke: { 0: { needed: CODE } },
  sweep: {},
  ...{ addressHash: PLAIN, outcomes: PLAIN, stats: PLAIN },
}

const TOKEN: Fields<RevokedToken> = { jti: true, expiresAt: true }

const TOKENS: Calls<TokenDenylist> = {
  warmUp: {},
  revoke: { 0: { needed: TOKEN } },
  revokeAll: { 0: { each: TOKEN } },
  revokeSubject: { 0: { needed: { subject: true, notBefore: true, expiresAt: true } } },
  isRevoked: SELF_CHECKED,
  check: { 0: { needed: QUESTION_FIELDS } },
  subject: {},
  sweep: {},
  close: {},
  ...{ peek: PLAIN, stats: PLAIN },
}

const LOCK: Fields<AcquireOptions> = { ttlMs: true, waitMs: true, signal: true }

const HOLD_LOCK: Fields<WithLockOptions> = { ...LOCK, autoExtend: true }

const LOCKS: Calls<Locks> = {
  acquire: { 1: { optional: LOCK } },
  extend: {},
  release: {},
  withLock: { 1: { optional: HOLD_LOCK } },
  hold: { 1: { optional: HOLD_LOCK } },
  status: {},
  list: { 0: { optional: { ...LISTING, olderThanSeconds: true } } },
  forceRelease: {},
  sweep: {},
  ...{ close: PLAIN, failures: PLAIN, stats: PLAIN, waits: PLAIN },
}

const CACHE_LEASE: Fields<LeaseOptions> = { ttlMs: true, waitMs: true, refresh: true, signal: true }

const CACHE: Calls<Caches> = {
  get: {},
  set: { 3: { optional: { ttlMs: true } } },
  lease: { 2: { optional: CACHE_LEASE } },
  fill: { 3: { needed: { lease: true, ttlMs: true } } },
  release: {},
  expire: {},
  delete: {},
  list: { 1: { optional: LISTING } },
  stats: {},
  sweep: {},
  ...{ close: PLAIN, figures: PLAIN, space: PLAIN },
}

const SPACE: Calls<CacheSpace<unknown>> = {
  get: {},
  look: {},
  getMany: {},
  getOrLoad: SELF_CHECKED,
  lookOrLoad: { 2: { optional: ENTRY_FIELDS } },
  loadMany: { 2: { optional: ENTRY_FIELDS } },
  refresh: { 2: { optional: ENTRY_FIELDS } },
  set: { 2: { optional: ENTRY_FIELDS } },
  expire: {},
  lease: { 1: { optional: CACHE_LEASE } },
  fill: { 3: { optional: ENTRY_FIELDS } },
  release: {},
  save: { 3: { optional: ENTRY_FIELDS } },
  delete: {},
  deleteMany: {},
  deleteByTag: {},
  clear: {},
  warm: {},
  ...{ name: PLAIN, onNotice: PLAIN, stats: PLAIN, stop: PLAIN },
}

const AUDIT_QUERY: Fields<AuditQuery> = {
  ...PAGE,
  ...{ target: true, actor: true, search: true, action: true, from: true, to: true },
}

const AUDIT: Calls<AuditTrail> = {
  record: SELF_CHECKED,
  list: { 0: { optional: AUDIT_QUERY } },
  sweep: {},
  // These return what the work returns, a promise or not.
  ...{ as: PLAIN, acting: PLAIN, export: PLAIN },
  ...{ countStored: PLAIN, current: PLAIN, deadlines: PLAIN, isEnabled: PLAIN, prepareEntry: PLAIN },
  stats: PLAIN,
}

/** All guards of an instance. */
export interface Guards {
  readonly allowlists: Allowlists
  readonly keys: ApiKeys
  readonly limits: RateLimits
  readonly idempotency: Idempotency
  readonly codes: OneTimeCodes
  readonly tokens: TokenDenylist
  readonly locks: Locks
  readonly cache: Caches
  /** Who changed what, when, from what to what. */
  readonly audit: AuditTrail
}

/** All calls of every guard and every cache space. The test of these rules iterates over it. */
export const CHECKED_CALLS = {
  ...{ allowlists: ALLOWLISTS, keys: KEYS, limits: LIMITS, idempotency: IDEMPOTENCY, codes: CODES },
  ...{ tokens: TOKENS, locks: LOCKS, cache: CACHE, audit: AUDIT },
  space: SPACE,
} satisfies Record<keyof Guards | 'space', object>
