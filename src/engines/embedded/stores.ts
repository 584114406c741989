import { dirname } from 'node:path'
import { EmbeddedSessions } from './access/sessions.js'
import { EmbeddedKeys } from './access/store.js'
import { EmbeddedBulk } from './allowlist/bulk.js'
import { Catalog } from './allowlist/catalog.js'
import { ChangeLog } from './allowlist/change-log.js'
import { EmbeddedChecks } from './allowlist/checks.js'
import { EmbeddedIndexStore } from './allowlist/index-store.js'
import { Journal } from './allowlist/journal.js'
import { EmbeddedLists } from './allowlist/lists.js'
import { EmbeddedMembers } from './allowlist/members.js'
import { Sweeper } from './allowlist/sweeper.js'
import { EmbeddedAudit } from './audit/store.js'
import { EmbeddedIdempotency } from './idempotency/store.js'
import { Environment, type EnvironmentOptions, type Opening } from './lmdb/environment.js'
import { asStoreError } from './lmdb/failures.js'
import { ensureVersionMarker, refuseOlderVersion, takeOver } from './lmdb/store-directory.js'
import { EmbeddedLocks } from './lock/store.js'
import { EmbeddedCodes } from './one-time-code/store.js'
import { EmbeddedLimitConfigs } from './rate-limit/configs.js'
import { EmbeddedUsage } from './rate-limit/usage.js'
import { EmbeddedTokens } from './token-denylist/store.js'

/** All stores of the engine over one environment. Each thread opens its own. */
export function openStores(options: EnvironmentOptions, opening: Opening = {}) {
  const root = dirname(options.directory)
  if (options.isShared) asStoreError(root, () => refuseOlderVersion(root))
  const around = { before: () => takeOver(root), after: () => ensureVersionMarker(root) }
  const environment = Environment.open(options, { ...opening, ...(options.isShared && around) })
  const catalog = new Catalog(environment)
  const changes = new ChangeLog(environment, catalog)
  const journal = new Journal(changes)
  const index = new EmbeddedIndexStore(environment, catalog)
  const audit = new EmbeddedAudit(environment)
  const upkeep = new Sweeper(environment, catalog, journal, index)
  return {
    environment,
    lists: new EmbeddedLists(environment, catalog),
    members: new EmbeddedMembers(environment, catalog, journal, audit),
    checks: new EmbeddedChecks(environment, catalog),
    bulk: new EmbeddedBulk(environment, catalog, upkeep, journal),
    changes,
    index,
    upkeep,
    catalog,
    keys: new EmbeddedKeys(environment),
    sessions: new EmbeddedSessions(environment),
    limitConfigs: new EmbeddedLimitConfigs(environment),
    usage: new EmbeddedUsage(environment),
    idempotency: new EmbeddedIdempotency(environment),
    codes: new EmbeddedCodes(environment),
    tokens: new EmbeddedTokens(environment),
    locks: new EmbeddedLocks(environment),
    audit,
  }
}

export type Stores = ReturnType<typeof openStores>
