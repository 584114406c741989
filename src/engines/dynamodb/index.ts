import type { MemberSource } from '../../guards/allowlist/hot/port.js'
import type { ReshardStore } from '../../guards/allowlist/port.js'
import type { FullEngine, StoreSource } from '../engine.js'
import { DynamodbSessions } from './access/sessions.js'
import { openBulkWork } from './allowlist/bulk-work.js'
import { memberSource } from './allowlist/member-scan.js'
import { type OpenedStore, openStore } from './allowlist/open-store.js'
import type { AdoptionProgress, ScanOptions } from './allowlist/scan-facts.js'
import { DynamodbUpkeep } from './allowlist/upkeep.js'
import { DynamodbAudit } from './audit/store.js'
import { type DynamodbCache, openCache } from './cache/index.js'
import type { CapacityCounts } from './client/capacity.js'
import { openCore } from './core.js'
import { DEFAULT_DYNAMODB } from './defaults.js'
import { ChangeLog } from './feed/change-log.js'
import { Freshness } from './feed/freshness.js'
import type { PodQueue } from './feed/pod-queue.js'
import { DynamodbFleet } from './fleet/store.js'
import { openSharing } from './following/index.js'
import { type Adopted, type DynamodbHealth, healthReader } from './health.js'
import { DynamodbIdempotency } from './idempotency/index.js'
import { DynamodbLocks } from './lock/store.js'
import { DynamodbCodes } from './one-time-code/store.js'
import type { DynamodbOptions } from './options.js'
import { DecidingClock } from './rate-limit/deciding-clock.js'
import { type OpenLimits, openLimits } from './rate-limit/index.js'
import { Spending } from './spending.js'
import { DynamodbTokens } from './token-denylist/store.js'
import type { DynamodbUrl } from './url.js'

export interface DynamodbEngine extends FullEngine {
  readonly resharding: ReshardStore
  readonly source: MemberSource
  /** Consumed capacity of all calls. */
  readonly capacity: CapacityCounts
  health(): Promise<DynamodbHealth>
  /** Scans the whole table for lists that other programs created, so that they are listed like any other. */
  adopt(options?: ScanOptions): Promise<AdoptionProgress>
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
      splits: options.splitLimits ?? [],
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
  const shared = openSharing(store, { ...options, probeIntervalMs }, { freshness, guards })
  const changes = new ChangeLog({ client, table: tables.allowlists, freshness, applied, shared, ...wakes })
  store.catalog.shared = shared
  queue?.listen((listId, type) => {
    if (listId !== undefined && type?.startsWith('ALLOWLIST_')) store.catalog.forget(listId)
  })
  const { lists, members, checks, index, keys } = core
  const times = new DecidingClock(options.limitClock ?? 'corrected', store.serverClock)
  const serverTime = (at: number) => at + store.serverClock.offsetMs()
  const spending = new Spending({ client, table: guards, counts: store.capacity, now })
  const { adoption: known = 'partial', unserved = 0 } = store.identity
  const adopted: Adopted = { adoption: known, unserved }
  return {
    name: 'dynamodb',
    allowlists: {
      lists,
      members,
      checks,
      index,
      bulk,
      changes,
      upkeep: new DynamodbUpkeep(store, { ...core.tasks, ...tasks }),
    },
    keys,
    sessions: new DynamodbSessions(client, guards),
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
    fleet: new DynamodbFleet(client, guards, serverTime),
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
    health: healthReader(url, store, { freshness, probeIntervalMs, now, adopted }),
    async adopt(options) {
      const { isWhole: _, ...progress } = await adoption.look(Number.POSITIVE_INFINITY, options)
      adopted.unserved = progress.unserved
      adopted.adoption = 'complete'
      await adoption.note('complete', progress.unserved)
      return progress
    },
    async close() {
      await shared?.close()
      await spending.close()
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
  return { url, options: { ...plain, checkTables: false, shareIntervalMs: 0 } }
}

async function openQueue(
  { region }: DynamodbUrl,
  { topicArn, queues, credentials, now, report }: DynamodbOptions,
): Promise<PodQueue | undefined> {
  if (topicArn === undefined) return undefined
  // Only with a topic: it loads two more packages of AWS.
  const { PodQueue } = await import('./feed/pod-queue.js')
  return PodQueue.open({
    topicArn,
    clients: { region, ...(credentials !== undefined && { credentials }), ...queues },
    ...(now !== undefined && { now }),
    ...(report !== undefined && { report }),
  })
}
