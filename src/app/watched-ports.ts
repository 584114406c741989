import type { EnginePorts, GuardName } from '../engines/engine.js'
import type { KeyStore } from '../guards/access/port.js'
import type { SessionStore } from '../guards/access/sessions/port.js'
import type { ChangeFeed } from '../guards/allowlist/changes/port.js'
import type { IndexStore } from '../guards/allowlist/membership/port.js'
import type {
  BulkStore,
  CheckStore,
  CheckView,
  ListStore,
  MemberStore,
  UpkeepStore,
} from '../guards/allowlist/port.js'
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
type Watched<Port> = { readonly [Member in keyof Port]-?: 'call' | 'plain' }

/** A missing member does not compile, so every new member of a port must be listed here. */
const LISTS: Watched<ListStore> = {
  create: 'call',
  get: 'call',
  page: 'call',
  update: 'call',
  delete: 'call',
  changeAll: 'call',
}
const MEMBERS: Watched<MemberStore> = {
  storesAuditEntries: 'plain',
  add: 'call',
  remove: 'call',
  get: 'call',
  page: 'call',
  listsOf: 'call',
}
/** Views are watched separately. */
export const CHECKS: Watched<CheckStore> = { view: 'plain', readToken: 'plain', tokenAt: 'plain' }
export const VIEW: Watched<CheckView> = { list: 'call', member: 'call' }
const BULK: Watched<BulkStore> = {
  begin: 'call',
  add: 'call',
  renew: 'call',
  replace: 'plain',
  finish: 'call',
  status: 'call',
  list: 'call',
}
export const CHANGES: Watched<ChangeFeed> = {
  isImmediate: 'plain',
  position: 'call',
  read: 'call',
  hasChanges: 'plain',
  watch: 'plain',
}
const INDEX: Watched<IndexStore> = {
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
const UPKEEP: Watched<UpkeepStore> = { sweep: 'call' }
const KEYS: Watched<KeyStore> = {
  ...{ add: 'call', list: 'call', change: 'call', remove: 'call', unlock: 'call' },
}
const SESSIONS: Watched<SessionStore> = { read: 'call', swap: 'call', sweep: 'call' }
const COUNTERS: Watched<LimitStore> = {
  list: 'call',
  take: 'call',
  adjust: 'call',
  giveBack: 'call',
  reset: 'call',
  watch: 'plain',
  sweep: 'call',
}
const CONFIGS: Watched<LimitConfigStore> = {
  list: 'call',
  read: 'call',
  write: 'call',
  remove: 'call',
  writeEntity: 'call',
  removeEntity: 'call',
  listEntities: 'call',
  changeAll: 'call',
  migrate: 'call',
  secret: 'call',
  watch: 'plain',
}
const USAGE: Watched<UsageStore> = { count: 'call', read: 'call', forget: 'call' }
const IDEMPOTENCY: Watched<IdempotencyStore> = {
  maxResponseBytes: 'plain',
  claim: 'call',
  complete: 'call',
  fail: 'call',
  release: 'call',
  extend: 'call',
  list: 'call',
  read: 'call',
  remove: 'call',
  sweep: 'call',
}
const CODES: Watched<CodeStore> = {
  peek: 'call',
  revoke: 'call',
  put: 'call',
  salt: 'call',
  attempt: 'call',
  sweep: 'call',
}
const TOKENS: Watched<TokenStore> = {
  revoke: 'call',
  find: 'call',
  position: 'call',
  all: 'plain',
  read: 'call',
  watch: 'plain',
  sweep: 'call',
}
const LOCKS: Watched<LockStore> = {
  acquire: 'call',
  extend: 'call',
  release: 'call',
  list: 'call',
  read: 'call',
  remove: 'call',
  watch: 'plain',
  pollMs: 'plain',
  sweep: 'call',
}
const CACHE: Watched<CacheStore> = {
  maxValueBytes: 'plain',
  list: 'call',
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
const AUDIT: Watched<AuditStore> = { append: 'call', read: 'call', sweep: 'call' }

/** All ports by guard. A guard has one port, or several with names. */
export const PORTS: {
  readonly [Guard in GuardName]:
    | Watched<EnginePorts[Guard]>
    | { readonly [Part in keyof EnginePorts[Guard]]: Watched<EnginePorts[Guard][Part]> }
} = {
  allowlists: {
    ...{ lists: LISTS, members: MEMBERS, checks: CHECKS, bulk: BULK },
    ...{ changes: CHANGES, index: INDEX, upkeep: UPKEEP },
  },
  keys: KEYS,
  sessions: SESSIONS,
  limits: { counters: COUNTERS, configs: CONFIGS, usage: USAGE },
  ...{ idempotency: IDEMPOTENCY, codes: CODES, tokens: TOKENS, locks: LOCKS, cache: CACHE, audit: AUDIT },
}

export type Members = Readonly<Record<string, 'call' | 'plain'>>

interface PortEntry {
  readonly guard: GuardName
  /** Which port, for guards with several. */
  readonly part: string | undefined
  readonly members: Members
}

/** The same as a list. */
export const PORT_LIST = Object.entries(PORTS).flatMap(([name, table]): PortEntry[] => {
  const guard = name as GuardName
  const isOne = Object.values(table).every((how) => typeof how === 'string')
  if (isOne) return [{ guard, part: undefined, members: table as Members }]
  return Object.entries(table).map(([part, members]) => ({ guard, part, members: members as Members }))
})
