import { parseStoreUrl } from '../config/store-url.js'
import type { RedisUrl } from '../config/store-url-redis.js'
import type { Clock } from '../core/clock.js'
import { CatracaError } from '../core/errors.js'
import type { RedisEngineOptions } from '../engines/redis/index.js'
import { Locks } from '../guards/lock/index.js'
import { DEFAULT_LOCKS, type LockOptions } from '../guards/lock/options.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenLocksOptions extends Partial<LockOptions> {
  /** A store URL, if locks are in another store than the rest. */
  store?: string
  /** At least three independent Redis servers: locks by majority (Redlock), without fences. Overrides `store`. */
  redlock?: readonly string[]
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

export interface OpenedLocks {
  readonly locks: Locks
  close(): Promise<void>
}

export async function openLocks(
  { store: _, redlock = [], ...given }: OpenLocksOptions,
  engineOf: () => Promise<StoreEngine>,
  around: Surroundings & { redis?: RedisEngineOptions | undefined },
): Promise<OpenedLocks> {
  const { redis, ...surroundings } = around
  const voting = redlock.length === 0 ? undefined : await openVoting(redlock, redis)
  const store = voting ?? (await engineOf()).locks
  const locks = new Locks({ ...surroundings, store, options: { ...DEFAULT_LOCKS, ...given } })
  return {
    locks,
    async close() {
      locks.close()
      await voting?.close()
    },
  }
}

async function openVoting(redlock: readonly string[], options: RedisEngineOptions = {}) {
  const urls = redlock.map((url) => parseStoreUrl(url))
  const isWrong = urls.some((url) => url.engine !== 'redis' || url.topology !== 'single')
  if (isWrong || urls.length < 3) {
    throw new CatracaError(
      'CONFIG_INVALID',
      'locks.redlock needs three or more redis:// URLs of single servers',
    )
  }
  const addresses = (urls as RedisUrl[]).map(({ nodes }) => `${nodes[0]!.host}:${nodes[0]!.port}`)
  if (new Set(addresses).size < addresses.length) {
    // Databases of one server would vote together, and be lost together.
    throw new CatracaError('CONFIG_INVALID', 'locks.redlock must not name a server twice')
  }
  const { openRedlock } = await import('../engines/redis/lock/redlock.js')
  const { connectTimeoutMs, commandTimeoutMs, tls } = options
  return openRedlock(urls as RedisUrl[], {
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
    ...(tls !== undefined && { tls }),
  })
}
