import { CatracaError } from '../../../core/errors.js'
import { later } from '../../../core/timers.js'
import { openRedis } from '../link/open-redis.js'
import type { RedisOptions } from '../link/options.js'
import type { Redis } from '../link/redis.js'
import type { RedisUrl } from '../url.js'

const RETRY_MS = 1000

/**
 * One of several independent servers. One that is down at the start is tried again, and counts as silent until then.
 */
export class RedlockServer {
  private redis: Redis | undefined
  private opening: Promise<void> | undefined
  private retry: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(
    private readonly url: RedisUrl,
    private readonly options: RedisOptions,
  ) {}

  /** Never fails: resolves to whether it is connected. */
  async open(): Promise<boolean> {
    this.opening ??= this.connect()
    await this.opening
    return this.redis !== undefined
  }

  async ask<T>(question: (redis: Redis) => Promise<T>): Promise<T> {
    if (this.redis === undefined)
      throw new CatracaError('ENGINE_UNAVAILABLE', 'a server of the quorum is down')
    return question(this.redis)
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.retry)
    await this.opening
    await this.redis?.close()
  }

  private async connect(): Promise<void> {
    try {
      const redis = await openRedis(this.url, this.options)
      if (this.isClosed) await redis.close()
      else this.redis = redis
    } catch {
      if (this.isClosed) return
      this.retry = later(() => {
        this.opening = this.connect()
      }, RETRY_MS).unref()
    }
  }
}
