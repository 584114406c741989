import type { Redis } from '../link/redis.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import type { DueLists } from './due-lists.js'
import type { Shards } from './shards.js'
import type { Tokens } from './tokens.js'

/** What imports, replaces and reshards need of the rest of the engine. */
export interface BulkContext {
  redis: Redis
  catalog: Catalog
  shards: Shards
  due: DueLists
  tokens: Tokens
  wake: ChangeChannel
  maxLogBytes: number
}
