import type { ThrottlerStorage } from '@nestjs/throttler'
import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { checkWindow, WindowCounts, type WindowStoreOptions } from './window-counts.js'

export type { WindowStoreOptions } from './window-counts.js'

const FIELDS: Fields<WindowStoreOptions> = { catraca: true, resource: true }
const KNOWN = new KnownFields(FIELDS)
const NAMES = { limit: 'limit', windowMs: 'ttl' }

/**
 * A storage of @nestjs/throttler, whose limits count for all processes on one store. One storage serves all throttlers:
 * their names are in the keys.
 */
export class CatracaThrottlerStorage implements ThrottlerStorage {
  private readonly counts: WindowCounts

  /** Refuses wrong options. */
  constructor(options: WindowStoreOptions) {
    KNOWN.check(options)
    this.counts = new WindowCounts(options)
  }

  /** The limit and its window come with each call, because routes may have their own. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    _throttlerName: string,
  ): ReturnType<ThrottlerStorage['increment']> {
    const window = checkWindow({ limit, windowMs: ttl }, NAMES)
    // throttler passes the TTL if a service sets no time.
    if (blockDuration !== ttl && blockDuration !== 0) {
      throw invalid('blockDuration', 'must be left out: a denial lasts until its window ends')
    }
    const { hits, resetMs, admitted } = await this.counts.add(key, window)
    const seconds = Math.ceil(resetMs / 1000)
    const isBlocked = admitted === undefined
    return {
      totalHits: hits,
      timeToExpire: seconds,
      isBlocked,
      timeToBlockExpire: isBlocked ? seconds : 0,
    }
  }
}
