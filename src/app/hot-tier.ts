import { CatracaError } from '../core/errors.js'
import type { Fields } from '../core/fields.js'
import { plainName } from '../core/identifiers.js'
import { REDIS_FIELDS } from '../engines/redis/entry.js'
import type { RedisOptions } from '../engines/redis/link/options.js'
import type { RedisUrl } from '../engines/redis/url.js'
import { storeUrlOf } from '../engines/registry.js'
import type { ChangeFeed, Position } from '../guards/allowlist/changes/port.js'
import { HotChecks } from '../guards/allowlist/hot/hot-checks.js'
import { HotSetUpdaters } from '../guards/allowlist/hot/hot-set-updaters.js'
import { PositionedFeed } from '../guards/allowlist/hot/positioned-feed.js'
import type { MembershipOptions } from '../guards/allowlist/membership/options.js'
import type { OpenStore } from './stores.js'

/** Sets of members in Redis, in front of a store where every confirmation is a paid request. */
export interface HotTierOptions {
  /** A Redis store URL. The database must contain no other store. */
  url: string
  /** Ids of the lists to copy there. */
  lists: readonly string[]
  /** Called for every new connection, so that a changed password needs no restart. */
  readUrl?: () => string
  /** If Redis has not answered a check within this time, the store answers it. */
  checkTimeoutMs?: number
  /** The process that updates a set counts as dead if it has not renewed its lease for this long. */
  leaseMs?: number
  redis?: Omit<RedisOptions, 'readPassword' | 'confirmFrom'>
}

export const HOT_TIER_FIELDS: Fields<HotTierOptions> = {
  ...{ url: true, readUrl: true, lists: true, checkTimeoutMs: true, leaseMs: true, redis: REDIS_FIELDS },
}

export interface HotTier {
  /** The engine's change feed, which also records the positions that the tier needs. */
  readonly changes: ChangeFeed
  /** `snapshotPosition`: position of the list's snapshot in memory. */
  checks(snapshotPosition: (incarnation: number) => Position | undefined): HotChecks
  figures(): { connected: boolean; lists: number; answered: number; passedOn: number }
  close(): Promise<void>
}

interface HotTierParts {
  store: OpenStore
  membership: Pick<MembershipOptions, 'compareIntervalMs' | 'staleAfterMs'>
  report(message: string, error: unknown): void
}

/** Undefined: no lists are configured for the tier. */
export async function openHotTier(
  options: HotTierOptions | undefined,
  { store, membership, report }: HotTierParts,
): Promise<HotTier | undefined> {
  const { source } = store.engine
  const { allowlists } = store.ports
  if (options === undefined || source === undefined || allowlists === undefined) return undefined
  if (options.lists.length === 0) return undefined
  const { url: _, readUrl, lists, redis, ...times } = options
  const url = redisUrl(options.url)
  const listIds = new Set(lists.map((id) => plainName('dynamodb.hotTier.lists', id)))
  const { RedisHotSets } = await import('../engines/redis/hot-tier/index.js')
  const { compareIntervalMs: intervalMs, staleAfterMs } = membership
  const password = readUrl && { readPassword: () => redisUrl(readUrl()).password }
  const sets = new RedisHotSets(url, { ...times, staleAfterMs, report, redis: { ...redis, ...password } })
  const { checks, changes } = allowlists
  const updaters = new HotSetUpdaters({ sets, checks, changes, source, listIds, intervalMs, report })
  const noted = new PositionedFeed(changes, listIds)
  const seen = (incarnation: number): Position | undefined => noted.seen(incarnation)
  let counts = { answered: 0, passedOn: 0 }
  return {
    changes: noted,
    checks(snapshotPosition) {
      const { stateOf } = source
      const hot = new HotChecks({ checks, sets, listIds, stateOf, snapshotPosition, seen, report })
      counts = hot.counts
      return hot
    },
    figures: () => ({ connected: sets.isConnected, lists: listIds.size, ...counts }),
    async close() {
      await updaters.close()
      await sets.close()
    },
  }
}

function redisUrl(text: string): RedisUrl {
  const url = storeUrlOf('redis', text)
  if (url !== undefined) return url
  throw new CatracaError(
    'CONFIG_INVALID',
    'dynamodb.hotTier must be a redis:// URL, or one of its other forms',
  )
}
