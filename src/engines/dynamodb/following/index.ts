import type { OpenedStore } from '../allowlist/open-store.js'
import { DEFAULT_DYNAMODB } from '../defaults.js'
import { ChangeLog } from '../feed/change-log.js'
import type { Freshness } from '../feed/freshness.js'
import type { DynamodbOptions } from '../options.js'
import { BoardStore } from './board-store.js'
import { LeaderReads } from './leader-reads.js'
import { SharedFollowing } from './shared-following.js'

/** Entries stay for several reads of the slowest reader that the intervals suit. */
const KEPT_INTERVALS = 5

/** A check asks for a list at most once in an interval of revalidation. */
const OFTEN_INTERVALS = 5

/** Longer than three intervals, and than a busy process stands still. */
const MIN_LEASE_MS = 4000

/** Undefined if every process reads for itself. */
export function openSharing(
  { client, tables, applied, settings, serverClock }: OpenedStore,
  options: DynamodbOptions,
  { freshness, guards }: { freshness: Freshness; guards: string },
): SharedFollowing | undefined {
  const { shareIntervalMs: intervalMs = DEFAULT_DYNAMODB.shareIntervalMs, now = Date.now } = options
  // Without probes nobody knows how far the logs are behind, and so nobody can tell others.
  if (intervalMs === 0 || options.probeIntervalMs === 0) return undefined
  const elapsedMs = () => performance.now()
  const serverNow = () => now() + serverClock.offsetMs()
  const logs = new ChangeLog({ client, table: tables.allowlists, freshness, applied })
  const reads = new LeaderReads({
    ...{ client, tables, freshness, elapsedMs, serverNow },
    position: (list) => logs.position(list),
    listsEveryMs: Math.max(intervalMs, settings.revalidateAfterMs),
    keepMs: KEPT_INTERVALS * intervalMs,
  })
  return new SharedFollowing({
    ...{ reads, intervalMs, now, serverNow, elapsedMs },
    usableMs: Math.max(3 * intervalMs + 1000, settings.staleAfterMs / 2),
    oftenMs: OFTEN_INTERVALS * settings.revalidateAfterMs,
    leaseMs: Math.max(MIN_LEASE_MS, 4 * intervalMs, settings.staleAfterMs),
    store: new BoardStore(client, guards),
    random: options.random ?? Math.random,
    report: options.report ?? (() => {}),
  })
}
