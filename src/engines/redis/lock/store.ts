import type {
  Attempt,
  AttemptOutcome,
  LockStore,
  OwnerOutcome,
  StoredLock,
} from '../../../guards/lock/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { FreedLocks } from './freed.js'
import { fenceKey, lockKey, waitingKey } from './keys.js'

/** Small enough that server and process work at the same time instead of waiting for each other. */
const together = 8
const ACQUIRE = defineScript('lock-acquire', { keys: ['any', 'string'], write: true, together })
const ACQUIRE_OR_WAIT = defineScript('lock-acquire', {
  keys: ['any', 'string', 'string'],
  write: true,
  together,
})
const RELEASE = defineScript('lock-release', { keys: ['any', 'string'], write: true, together })
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
    return this.free(name, owner).then((isFreed) => (isFreed ? 'done' : 'lost'))
  }

  remove(name: string): Promise<boolean> {
    return this.free(name)
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

  private free(name: string, ...owner: string[]): Promise<boolean> {
    const key = lockKey(name)
    const args = [this.freed.channel, name, ...owner]
    return this.redis.run(RELEASE, [key, waitingKey(key)], args).then((freed) => freed === 1)
  }
}
