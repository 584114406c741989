import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HotFinding, HotSets, HotSetWriter } from '../../../guards/allowlist/hot/port.js'
import { openRedis } from '../link/open-redis.js'
import type { RedisOptions } from '../link/options.js'
import type { Redis } from '../link/redis.js'
import type { RedisUrl } from '../url.js'
import { HotLookups } from './lookups.js'
import { claimSet, type HotSetOptions } from './writer.js'

interface HotSetsOptions extends Partial<HotSetOptions> {
  /** If the sets have not answered a check by then, the store answers it. */
  checkTimeoutMs?: number
  redis?: RedisOptions
  report?: (message: string, error: unknown) => void
}

const DEFAULT_LEASE_MS = 10_000
const DEFAULT_STALE_AFTER_MS = 3000
const DEFAULT_CHECK_TIMEOUT_MS = 200
const CONNECT_PAUSE_MS = 1000

/** Sets of members in Redis, in front of another store. Redis is optional: without it nothing is found. */
export class RedisHotSets implements HotSets {
  private readonly owner = randomUUID()
  private readonly keeping: HotSetOptions
  private readonly closing = new AbortController()
  private readonly connecting: Promise<void>
  /** Two connections: loads must not delay checks, and have a longer timeout. */
  private links: { checks: Redis; keeping: Redis } | undefined
  private lookups: HotLookups | undefined

  constructor(
    private readonly url: RedisUrl,
    private readonly options: HotSetsOptions = {},
  ) {
    const { leaseMs = DEFAULT_LEASE_MS, staleAfterMs = DEFAULT_STALE_AFTER_MS } = options
    this.keeping = { leaseMs, staleAfterMs }
    this.connecting = this.connect()
  }

  get isConnected(): boolean {
    return this.links !== undefined
  }

  find(listId: string, customerId: string): Promise<HotFinding | undefined> {
    return this.lookups?.find(listId, customerId) ?? Promise.resolve(undefined)
  }

  async claim(listId: string): Promise<HotSetWriter | undefined> {
    return this.links && claimSet(this.links.keeping, listId, this.owner, this.keeping)
  }

  async close(): Promise<void> {
    this.closing.abort()
    await this.connecting
    await Promise.all([this.links?.checks.close(), this.links?.keeping.close()])
  }

  /** Retries until the first connection succeeds. After that the link reconnects automatically. */
  private async connect(): Promise<void> {
    const { signal } = this.closing
    let told = ''
    while (!signal.aborted && this.links === undefined) {
      try {
        this.links = await this.openLinks()
        this.lookups = new HotLookups(this.links.checks)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        if (message !== told)
          this.options.report?.('the hot tier cannot be reached; checks read the store', error)
        told = message
        await sleep(CONNECT_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }

  private async openLinks(): Promise<{ checks: Redis; keeping: Redis }> {
    const { redis = {}, checkTimeoutMs = DEFAULT_CHECK_TIMEOUT_MS } = this.options
    const checks = await openRedis(this.url, { ...redis, commandTimeoutMs: checkTimeoutMs })
    try {
      return { checks, keeping: await openRedis(this.url, redis) }
    } catch (error) {
      await checks.close()
      throw error
    }
  }
}
