import { RedisKeys } from './access/store.js'
import { activate } from './allowlist/activate.js'
import { RedisBulk } from './allowlist/bulk.js'
import { importTask } from './allowlist/bulk-sweep.js'
import { Catalog } from './allowlist/catalog.js'
import { ChangeChannel } from './allowlist/change-channel.js'
import { RedisChanges } from './allowlist/change-feed.js'
import { RedisChecks } from './allowlist/checks.js'
import { DueLists } from './allowlist/due-lists.js'
import { IndexScan } from './allowlist/index-scan.js'
import { RedisIndexStore } from './allowlist/index-store.js'
import { RedisLists } from './allowlist/lists.js'
import { Lookups } from './allowlist/lookups.js'
import { MemberPages } from './allowlist/member-pages.js'
import { RedisMembers } from './allowlist/members.js'
import { ReplicaLookups } from './allowlist/replica-lookups.js'
import { Resharding } from './allowlist/reshard.js'
import { thawIfDead } from './allowlist/reshard-shards.js'
import { Shards } from './allowlist/shards.js'
import { DeletedLists } from './allowlist/sweep-deleted.js'
import { expiryTask } from './allowlist/sweep-expired.js'
import { Sweeper } from './allowlist/sweeper.js'
import type { Task } from './allowlist/tasks.js'
import { Tokens } from './allowlist/tokens.js'
import type { Redis } from './link/redis.js'

export interface StoreOptions {
  database: number
  commandTimeoutMs: number
  maxLogBytes: number
  staleAfterMs: number
  shardAbove: number
  initialShards: number
  confirmFrom?: 'primary' | 'replica'
}

/** All stores of the engine over one Redis link. */
export function openStores(redis: Redis, options: StoreOptions) {
  const { maxLogBytes } = options
  const wake = new ChangeChannel(redis, options.database)
  const catalog = new Catalog(redis, wake, options)
  const shards = new Shards(redis, catalog, options.commandTimeoutMs)
  const tokens = new Tokens(redis, catalog)
  const due = new DueLists(redis)
  const lists = new RedisLists(redis, catalog, shards, due, wake, options.initialShards)
  const lookups = new Lookups(redis, shards)
  const replicas = options.confirmFrom === 'replica' ? new ReplicaLookups(redis, shards) : undefined
  const pages = new MemberPages(redis, shards)
  const index = new RedisIndexStore(redis, catalog, due, wake, new IndexScan(redis, catalog, shards))
  const context = { redis, catalog, shards, due, tokens, wake, maxLogBytes }
  const bulk = new RedisBulk(context)
  shards.mending = {
    activate: (list, shard) => activate(context, list, shard, Date.now()),
    thaw: (list) => thawIfDead(context, list),
  }
  const resharding = new Resharding(context, bulk.cleanup, options.shardAbove)
  const tasks: Task[] = [
    expiryTask({ redis, shards, wake, maxLogBytes }),
    deadBuilds(index),
    importTask(context, bulk.cleanup),
    resharding.task,
  ]
  const deleted = new DeletedLists(redis, lists, (id) => catalog.readMeta(id))
  return {
    lists,
    members: new RedisMembers({ ...context, lists, lookups, pages }),
    checks: new RedisChecks(catalog, lookups, tokens, replicas),
    replicas,
    bulk,
    resharding,
    changes: new RedisChanges(redis, catalog, shards, wake, maxLogBytes),
    index,
    upkeep: new Sweeper({ redis, catalog, due, deleted, tasks }),
    keys: new RedisKeys(redis),
    catalog,
    tokens,
    wake,
  }
}

function deadBuilds(index: RedisIndexStore): Task {
  return async (id, { incarnation }, now) => {
    const { buried, leaseEndsAt } = await index.endExpired({ id, incarnation }, now)
    return {
      swept: Number(buried),
      more: false,
      ...(leaseEndsAt === undefined ? {} : { nextAt: leaseEndsAt }),
    }
  }
}
