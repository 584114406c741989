import { keySuite } from './access-keys.js'
import { bulkSuite } from './allowlist-bulk.js'
import { changeSuite } from './allowlist-changes.js'
import { checkSuite } from './allowlist-checks.js'
import { indexSuite } from './allowlist-index.js'
import { listSuite } from './allowlist-lists.js'
import { memberSuite } from './allowlist-members.js'
import { cacheEntrySuite } from './cache-entries.js'
import { cacheFillSuite } from './cache-fills.js'
import { cacheSpaceSuite } from './cache-spaces.js'
import { limitConfigSuite, usageSuite } from './limit-configs.js'
import { limitSuite } from './limit-counters.js'
import { limitLeaseSuite } from './limit-leases.js'

export type { Case, OpenPair, Pair, Runner, Suite } from './suite.js'
export { register } from './suite.js'

/** What an engine that keeps allowlists must pass. */
export const allowlistSuites = [listSuite, memberSuite, checkSuite, bulkSuite, changeSuite, indexSuite]
/** What an engine that keeps API keys must pass. */
export const accessSuites = [keySuite]
/** What an engine that keeps rate limits must pass: counters, configuration and usage. */
export const limitSuites = {
  counters: [limitSuite, limitLeaseSuite],
  configs: [limitConfigSuite],
  usage: [usageSuite],
}
/** What an engine that keeps the second tier of caches must pass. */
export const cacheSuites = [cacheEntrySuite, cacheFillSuite, cacheSpaceSuite]
