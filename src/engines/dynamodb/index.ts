import type { MemberSource } from '../../guards/allowlist/hot/port.js'
import type { ReshardStore } from '../../guards/allowlist/port.js'
import type { FullEngine, StoreSource } from '../engine.js'
import type { AdoptionProgress, ScanOptions } from './allowlist/adoption.js'
import { openBulkWork } from './allowlist/bulk-work.js'
import { STORE_KEY } from './allowlist/items.js'
import { memberSource } from './allowlist/member-scan.js'
import { type OpenedStore, type OpenStoreOptions, openStore } from './allowlist/open-store.js'
import type { SizeStep } from './allowlist/shard-sizes.js'
import { DynamodbUpkeep } from './allowlist/upkeep.js'
import { DynamodbAudit } from './audit/store.js'
import { type DynamodbCache, openCache } from './cache/index.js'
import type { CapacityCounts } from './client/capacity.js'
import type { DaxState } from './client/dax.js'
import { openCore } from './core.js'
import { DEFAULT_DYNAMODB } from './defaults.js'
import { ChangeLog } from './feed/change-log.js'
import { Freshness } from './feed/freshness.js'
import { PodQueue } from './feed/pod-queue.js'
import type { QueueClientOptions } from './feed/topic.js'
import { DynamodbIdempotency, type ReadFirst } from './idempotency/index.js'
import { DynamodbLocks } from './lock/store.js'
import { DynamodbCodes } from './one-time-code/store.js'
import { DecidingClock } from './rate-limit/deciding-clock.js'
import { type LimitClock, type OpenLimits, openLimits } from './rate-limit/index.js'
import { TableWatch } from './tables/table-watch.js'
import { DynamodbTokens } from './token-denylist/store.js'
import type { DynamodbUrl } from './url.js'

export interface DynamodbOptions extends OpenStoreOptions {
  /**
   * The topic to which the relay, or the Lambda, publishes. This pod creates its own queue and sees changes at once.
   */
  topicArn?: string
  /** Options of the queue clients, where they differ from those of the tables. */
  queues?: QueueClientOptions
  /**
   * How often, over all pods, a probe measures how far the logs are behind. 0: never; the logs are assumed to be
   * complete.
   */
  probeIntervalMs?: number
  /** From how many customers on a list is moved to more shards, or to the table for giants. */
  sizes?: readonly SizeStep[]
  /** Whether idempotency records are read before they are claimed. Default: `auto`. */
  idempotencyReadFirst?: ReadFirst
  /**
   * Whose clock decides on limits: the caller's corrected by DynamoDB's or, for test suites and vectors, the caller's
   * unchanged.
   */
  limitClock?: LimitClock
  now?: () => number
  /** The clock that measures how long a lock was not renewed. */
  monotonicMs?: () => number
}

export interface DynamodbEngine extends FullEngine {
  readonly resharding: ReshardStore
  readonly source: MemberSource
  /** Consumed capacity of all calls. */
  readonly capacity: CapacityCounts
  health(): Promise<DynamodbHealth>
  /** Scans the whole table for lists that other programs created, so that they are listed like any other. */
  adopt(options?: ScanOptions): Promise<AdoptionProgress>
}

export interface DynamodbHealth {
  region: string
  tables: { allowlists: string; giant: string; guards: string; idempotency: string }
  /** The last status of each table, such as `ACTIVE`. Absent if this process may not query it, or has no answer yet. */
  tableStatus?: Record<string, string>
  /** `partial`: the table was too large to scan for lists of other programs at the start; `adopt` does it. */
  adoption: 'partial' | 'complete'
  /** Rows of other programs that no check finds, counted by the last scan. Absent if there are none. */
  unservedRows?: number
  /**
   * How far the logs that keep indexes fresh are behind the table. Null if no probe has arrived yet, because no relay
   * runs. Absent if it is not measured.
   */
  feedAgeMs?: number | null
  /** State of DAX, if it is used. An unreachable cluster is not unhealthy: DynamoDB is read instead. */
  dax?: DaxState
}

/** Opens the tables. Refuses tables that are missing or differ from their definition. */
export async function openDynamodb(url: DynamodbUrl, options: DynamodbOptions = {}): Promise<DynamodbEngine> {
  const store = await openStore(url, options)
  try {
    const queue = await openQueue(url, options)
    const guards = { client: store.client, table: url.tables.guards, server: store.serverClock }
    const limits = openLimits({
      ...guards,
      timeoutMs: store.settings.writeTimeoutMs,
      clock: options.limitClock ?? 'corrected',
    })
    return engineOf(url, store, { limits, cache: openCache(guards) }, queue, options)
  } catch (error) {
    store.close()
    throw error
  }
}

function engineOf(
  url: DynamodbUrl,
  store: OpenedStore,
  { limits, cache }: { limits: OpenLimits; cache: DynamodbCache },
  queue: PodQueue | undefined,
  options: DynamodbOptions,
): DynamodbEngine {
  const { region } = url
  const { idempotency, guards } = url.tables
  const { client, tables, applied, adoption } = store
  const { probeIntervalMs = DEFAULT_DYNAMODB.probeIntervalMs, now = Date.now } = options
  const core = openCore(store)
  const { bulk, resharding, tasks } = openBulkWork(store, options.sizes)
  const freshness = new Freshness({ client, tables, now, probeIntervalMs })
  const wakes = queue === undefined ? {} : { wakes: queue }
  queue?.listen((listId, type) => {
    if (listId !== undefined && type?.startsWith('ALLOWLIST_')) store.catalog.forget(listId)
  })
  const { lists, members, checks, index, keys } = core
  const times = new DecidingClock(options.limitClock ?? 'corrected', store.serverClock)
  const serverTime = (at: number) => at + store.serverClock.offsetMs()
  const { allowlists, giant } = tables
  const names = { allowlists, giant, guards, idempotency }
  const tableWatch = new TableWatch(client.sdk, names)
  let adopted = store.identity.adoption ?? 'partial'
  let unserved = store.identity.unserved ?? 0
  return {
    name: 'dynamodb',
    allowlists: {
      lists,
      members,
      checks,
      index,
      bulk,
      changes: new ChangeLog({ client, table: tables.allowlists, freshness, applied, ...wakes }),
      upkeep: new DynamodbUpkeep(store, { ...core.tasks, ...tasks }),
    },
    keys,
    idempotency: new DynamodbIdempotency(client, {
      table: idempotency,
      writeTimeoutMs: store.settings.writeTimeoutMs,
      readFirst: options.idempotencyReadFirst ?? DEFAULT_DYNAMODB.idempotencyReadFirst,
      time: serverTime,
    }),
    limits,
    codes: new DynamodbCodes(client, guards, (at) => times.at(at)),
    tokens: new DynamodbTokens(client, guards),
    audit: new DynamodbAudit(client, guards),
    locks: new DynamodbLocks(client, guards, options.monotonicMs, serverTime),
    cache,
    resharding,
    source: memberSource(store, region),
    capacity: store.capacity,
    connectionFailures: () => store.connectionFailures(),
    writeTimeoutMs: store.settings.writeTimeoutMs,
    forThreads: () => forThreads(url, options),
    figures: () => ({
      capacity: store.capacity,
      ...(store.dax !== undefined && { dax: store.dax.state }),
    }),
    listCache: () => store.catalog.figures(),
    async health() {
      const input = { TableName: allowlists, Key: STORE_KEY }
      const [dax] = await Promise.all([store.dax?.look(input), client.getItem('health', input)])
      const tableStatus = tableWatch.status()
      const told = Object.keys(tableStatus).length > 0 ? { tableStatus } : {}
      const facts = {
        ...{ region, tables: names, ...told, adoption: adopted },
        ...(unserved > 0 && { unservedRows: unserved }),
        ...(dax !== undefined && { dax }),
      }
      if (probeIntervalMs === 0) return facts
      const ageMs = await freshness.ageMs('allowlists')
      return { ...facts, feedAgeMs: Number.isFinite(ageMs) ? ageMs : null }
    },
    async adopt(options) {
      const { isWhole: _, ...progress } = await adoption.look(Number.POSITIVE_INFINITY, options)
      unserved = progress.unserved
      await adoption.note((adopted = 'complete'), unserved)
      return progress
    },
    async close() {
      await cache.close()
      await limits.close()
      await queue?.close()
      store.close()
    },
  }
}

/** A thread needs no queue, and the tables were already checked. Functions cannot be sent to it. */
function forThreads(url: DynamodbUrl, options: DynamodbOptions): StoreSource {
  const { topicArn: _, counter: __, report: ___, now: ____, monotonicMs: _____, ...plain } = options
  return { url, options: { ...plain, checkTables: false } }
}

async function openQueue(
  { region }: DynamodbUrl,
  { topicArn, queues, credentials, now, report }: DynamodbOptions,
): Promise<PodQueue | undefined> {
  if (topicArn === undefined) return undefined
  return PodQueue.open({
    topicArn,
    clients: { region, ...(credentials !== undefined && { credentials }), ...queues },
    ...(now !== undefined && { now }),
    ...(report !== undefined && { report }),
  })
}
