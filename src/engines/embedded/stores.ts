import { dirname } from 'node:path'
import { EmbeddedKeys } from './api-keys.js'
import { EmbeddedAudit } from './audit.js'
import { EmbeddedBulk } from './bulk.js'
import { Catalog } from './catalog.js'
import { ChangeLog } from './change-log.js'
import { EmbeddedChecks } from './checks.js'
import { Environment, type EnvironmentOptions, type Opening } from './environment.js'
import { asStoreError } from './failures.js'
import { EmbeddedIdempotency } from './idempotency.js'
import { EmbeddedIndexStore } from './index-store.js'
import { Journal } from './journal.js'
import { EmbeddedLists } from './lists.js'
import { EmbeddedLocks } from './locks.js'
import { EmbeddedMembers } from './members.js'
import { EmbeddedCodes } from './one-time-codes.js'
import { EmbeddedLimitConfigs } from './rate-limit-configs.js'
import { EmbeddedUsage } from './rate-limit-usage.js'
import { keepSign, refuseOlderVersion, takeOver } from './store-directory.js'
import { Sweeper } from './sweeper.js'
import { EmbeddedTokens } from './token-denylist.js'

/** Every store of the engine over one environment, for one thread. */
export function openStores(options: EnvironmentOptions, opening: Opening = {}) {
  const root = dirname(options.directory)
  if (options.isShared) asStoreError(root, () => refuseOlderVersion(root))
  const around = { before: () => takeOver(root), after: () => keepSign(root) }
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
