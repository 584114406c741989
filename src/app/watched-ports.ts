import type { KeyStore } from '../guards/access/port.js'
import type { ChangeFeed } from '../guards/allowlist/changes/port.js'
import type { IndexStore } from '../guards/allowlist/membership/port.js'
import type { BulkStore, CheckView, ListStore, MemberStore, UpkeepStore } from '../guards/allowlist/port.js'
import type { AuditStore } from '../guards/audit/port.js'
import type { CacheStore } from '../guards/cache/port.js'
import type { IdempotencyStore } from '../guards/idempotency/port.js'
import type { LockStore } from '../guards/lock/port.js'
import type { CodeStore } from '../guards/one-time-code/port.js'
import type { LimitConfigStore, LimitStore, UsageStore } from '../guards/rate-limit/port.js'
import type { TokenStore } from '../guards/token-denylist/port.js'

/**
 * How each member of a port is watched. A `call` is timed and counted. A `plain` member is passed through, because
 * it does not query the engine (subscriptions), or because its duration depends on its reader (scans).
 */
export type Watched<Port> = { readonly [Member in keyof Port]-?: 'call' | 'plain' }

/** A missing member does not compile, so every new member of a port must be listed here. */
export const LISTS: Watched<ListStore> = {
  create: 'call',
  get: 'call',
  page: 'call',
  update: 'call',
  delete: 'call',
}
export const MEMBERS: Watched<MemberStore> = {
  storesAuditEntries: 'plain',
  add: 'call',
  remove: 'call',
  get: 'call',
  page: 'call',
  listsOf: 'call',
}
export const VIEW: Watched<CheckView> = { list: 'call', member: 'call' }
export const BULK: Watched<BulkStore> = {
  begin: 'call',
  add: 'call',
  renew: 'call',
  replace: 'plain',
  finish: 'call',
  status: 'call',
}
export const CHANGES: Watched<ChangeFeed> = {
  isImmediate: 'plain',
  position: 'call',
  read: 'call',
  hasChanges: 'plain',
  watch: 'plain',
}
export const INDEX: Watched<IndexStore> = {
  manifest: 'call',
  version: 'call',
  page: 'call',
  claim: 'call',
  renew: 'call',
  builder: 'call',
  putPage: 'call',
  publish: 'call',
  abandon: 'call',
  scan: 'plain',
  countUses: 'call',
  mostUsed: 'call',
}
export const UPKEEP: Watched<UpkeepStore> = { sweep: 'call' }
export const KEYS: Watched<KeyStore> = { add: 'call', list: 'call', remove: 'call', unlock: 'call' }
export const COUNTERS: Watched<LimitStore> = {
  take: 'call',
  adjust: 'call',
  giveBack: 'call',
  reset: 'call',
  watch: 'plain',
  sweep: 'call',
}
export const CONFIGS: Watched<LimitConfigStore> = {
  list: 'call',
  read: 'call',
  write: 'call',
  remove: 'call',
  writeEntity: 'call',
  removeEntity: 'call',
  migrate: 'call',
  secret: 'call',
  watch: 'plain',
}
export const USAGE: Watched<UsageStore> = { count: 'call', read: 'call', forget: 'call' }
export const IDEMPOTENCY: Watched<IdempotencyStore> = {
  maxResponseBytes: 'plain',
  claim: 'call',
  complete: 'call',
  fail: 'call',
  release: 'call',
  extend: 'call',
  read: 'call',
  remove: 'call',
  sweep: 'call',
}
export const CODES: Watched<CodeStore> = {
  peek: 'call',
  revoke: 'call',
  put: 'call',
  salt: 'call',
  attempt: 'call',
  sweep: 'call',
}
export const TOKENS: Watched<TokenStore> = {
  revoke: 'call',
  find: 'call',
  position: 'call',
  all: 'plain',
  read: 'call',
  watch: 'plain',
  sweep: 'call',
}
export const LOCKS: Watched<LockStore> = {
  acquire: 'call',
  extend: 'call',
  release: 'call',
  read: 'call',
  remove: 'call',
  watch: 'plain',
  pollMs: 'plain',
  sweep: 'call',
}
export const CACHE: Watched<CacheStore> = {
  maxValueBytes: 'plain',
  read: 'call',
  begin: 'call',
  store: 'call',
  renew: 'call',
  release: 'call',
  write: 'call',
  remove: 'call',
  expire: 'call',
  removeTag: 'call',
  clear: 'call',
  watch: 'plain',
  sweep: 'call',
}
export const AUDIT: Watched<AuditStore> = { append: 'call', read: 'call', sweep: 'call' }
