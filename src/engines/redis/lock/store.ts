import type { Listing, ListingRequest } from '../../../core/listing.js'
import type {
  Attempt,
  AttemptOutcome,
  ListedLock,
  LockStore,
  OwnerOutcome,
  StoredLock,
} from '../../../guards/lock/port.js'
import { type BatchItem, flatNumbers } from '../link/batch-form.js'
import { unlessForeign } from '../link/failures.js'
import type { Redis } from '../link/redis.js'
import { scanKeys } from '../link/scan-keys.js'
import { defineScript, type Script } from '../link/script.js'
import { FreedLocks } from './freed.js'
import { fenceKey, lockKey, waitingKey } from './keys.js'

/** Small enough that server and process work at the same time instead of waiting for each other. */
const together = 16
const acquiring = { write: true, together, form: flatNumbers }
const ACQUIRE = defineScript('lock-acquire', { keys: ['any', 'string'], ...acquiring })
const ACQUIRE_OR_WAIT = defineScript('lock-acquire', { keys: ['any', 'string', 'string'], ...acquiring })
/** The first argument, the channel, is that of the instance. */
const freeing = {
  ...{ write: true, together },
  form: {
    argsOf: (items: readonly BatchItem[]) => [
      items[0]!.args[0]!,
      ...items.flatMap(({ args }) => args.slice(1)),
    ],
    resultsOf: flatNumbers.resultsOf,
  },
}
const RELEASE = defineScript('lock-release', { keys: ['any', 'string'], ...freeing })
/** Whoever holds it: a string. What is of another type is no lock, and is refused. */
const REMOVE = defineScript('lock-release', { keys: ['string', 'string'], ...freeing })
const EXTEND = defineScript('lock-extend', { keys: ['any', 'string'], write: true, together })
const READ = defineScript('lock-read', { keys: 2, write: false })

/** How long to wait before the next attempt, if another program holds the lock without an expiry. */
const NO_END_MS = 1000

/**
 * Locks on one primary. Key, fence and waiting mark of a lock share a slot, and one script decides by the server's
 * clock.
 */
export class RedisLocks implements LockStore {
  /** Waiters are notified of releases. Polling finds the releases of other programs. */
  readonly pollMs = 250
  private readonly freed: FreedLocks

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    this.freed = new FreedLocks(redis, database)
  }

  /** Without `async`, which costs as much memory as the rest of a call. */
  acquire({ name, owner, ttlMs, waits }: Attempt): Promise<AttemptOutcome> {
    const key = lockKey(name)
    const args = [owner, String(ttlMs)]
    const asking = waits
      ? this.redis.run(ACQUIRE_OR_WAIT, [key, fenceKey(key), waitingKey(key)], args)
      : this.redis.run(ACQUIRE, [key, fenceKey(key)], args)
    return asking.then((reply) => {
      const fence = reply as number
      if (fence > 0) return { outcome: 'acquired', fence }
      return { outcome: 'held', retryAfterMs: fence === 0 ? NO_END_MS : -fence }
    })
  }

  async extend(name: string, owner: string, ttlMs: number): Promise<OwnerOutcome> {
    const key = lockKey(name)
    const extended = await this.redis.run(EXTEND, [key, fenceKey(key)], [owner, String(ttlMs)])
    return extended === 1 ? 'done' : 'lost'
  }

  release(name: string, owner: string): Promise<OwnerOutcome> {
    return this.free(RELEASE, name, owner).then((isFreed) => (isFreed ? 'done' : 'lost'))
  }

  remove(name: string): Promise<boolean> {
    return this.free(REMOVE, name)
  }

  async read(name: string, now: number): Promise<StoredLock | undefined> {
    const key = lockKey(name)
    const reply = (await this.redis.run(READ, [key, fenceKey(key)], [])) as [number, string | null]
    const [leftMs, fence] = reply
    const isHeld = leftMs !== -2
    if (!isHeld && fence === null) return undefined
    return {
      isHeld,
      fence: fence === null ? undefined : Number(fence),
      expiresAt: leftMs < 0 ? undefined : now + leftMs,
    }
  }

  async list(request: ListingRequest, now: number): Promise<Listing<ListedLock>> {
    const start = lockKey(request.prefix)
    const { items: keys, ...next } = await scanKeys(this.redis, `${start}*`, request)
    const locks = await Promise.all(
      keys.map(async (key): Promise<ListedLock[]> => {
        const name = key.slice(lockKey('').length)
        const found = await this.read(name, now).catch(unlessForeign)
        return found?.isHeld ? [{ name, fence: found.fence, expiresAt: found.expiresAt }] : []
      }),
    )
    return { items: locks.flat(), ...next }
  }

  watch(name: string, onFree: () => void): () => void {
    return this.freed.watch(name, onFree)
  }

  /** All keys expire. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }

  close(): Promise<void> {
    return this.freed.close()
  }

  private free(script: Script, name: string, owner = ''): Promise<boolean> {
    const key = lockKey(name)
    const args = [this.freed.channel, name, owner]
    return this.redis.run(script, [key, waitingKey(key)], args).then((freed) => freed === 1)
  }
}
