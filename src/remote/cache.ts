import { isUnavailable } from '../core/deadlines.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import { identifier } from '../core/identifiers.js'
import type { CacheApi } from '../guards/cache/api.js'
import type { CacheAnswer, FillLease, LeaseOptions, Load, SpaceStats } from '../guards/cache/types.js'
import { type Calls, unless } from './calls.js'

/** A server that responds later than this counts as unavailable. */
const ANSWER_MS = 5000
/** How long one request waits for the load of another caller. */
const WAIT_MS = 5000

export interface RemoteCache extends CacheApi {
  /** A space of the configuration of the server. */
  space<T = unknown>(name: string): RemoteSpace<T>
}

/** The cache over HTTP, with the results and errors of the library. Each call is a request: there is no first tier here. */
export function remoteCache(calls: Calls): RemoteCache {
  const at = (space: string, key: string) => ({
    space: identifier('space', space),
    key: identifier('key', key),
  })
  const cache: CacheApi = {
    get: async (space, key) => {
      const cached = await unless(
        'CACHE_KEY_NOT_FOUND',
        calls.getCached<CacheAnswer<unknown>>(at(space, key)),
      )
      return cached && { ...cached, stale: cached.stale === true }
    },
    set: async (space, key, value, options) =>
      calls.setCached({ ...at(space, key), body: { value, ...options } }),
    lease: async (space, key, { signal, ...body }: LeaseOptions = {}) => {
      const timeoutMs = ANSWER_MS + (body.waitMs ?? 0)
      return leaseOf(await calls.leaseCached<LeaseAnswer>({ ...at(space, key), body }, { signal, timeoutMs }))
    },
    fill: async (space, key, value, options) =>
      calls.setCached({ ...at(space, key), body: { value: value ?? null, ...options } }),
    release: async (space, key, lease) => calls.releaseCached({ ...at(space, key), lease }),
    expire: async (space, key) => calls.expireCached(at(space, key)),
    // The server does not report whether the key existed.
    delete: async (space, key) => calls.deleteCached(at(space, key)).then(() => true),
    list: async (space, query) => calls.listCached({ space: identifier('space', space), ...query }),
    stats: async () => (await calls.cacheStats<{ spaces: Record<string, SpaceStats> }>()).spaces,
  }
  return { ...cache, space: (name) => new RemoteSpace(cache, name) }
}

interface LeaseAnswer extends Partial<CacheAnswer<unknown>> {
  lease?: string
  expiresAt?: string
  retryAfterMs?: number
}

function leaseOf(answer: LeaseAnswer): FillLease<unknown> {
  const { lease, expiresAt = '', retryAfterMs, value, ageMs, stale = false, degraded } = answer
  const cached = ageMs === undefined ? undefined : { value: value ?? undefined, ageMs, stale }
  if (lease !== undefined) {
    return { state: 'yours', lease, expiresAt: new Date(expiresAt), ...(cached && { stale: cached }) }
  }
  if (cached !== undefined) return { state: 'cached', ...cached, ...(degraded && { degraded }) }
  return { state: 'busy', retryAfterMs: retryAfterMs ?? 0 }
}

interface RemoteEntryOptions<T> {
  /** Overrides the TTL of the space. A function computes it from the value. A result of 0 or less: not stored. */
  ttlMs?: number | ((value: T, key: string) => number)
}

const FIELDS: Fields<RemoteEntryOptions<unknown>> = { ttlMs: true }
const KNOWN = new KnownFields(FIELDS)

/** A space of a server, with the verbs of a space that need no memory of this process. */
class RemoteSpace<T = unknown> {
  readonly name: string

  constructor(
    private readonly cache: CacheApi,
    name: string,
  ) {
    if (typeof name !== 'string') {
      throw invalid('space', 'must be the name of a space that the server configures')
    }
    this.name = identifier('space', name)
  }

  async get(key: string): Promise<T | undefined> {
    return (await this.cache.get(this.name, key))?.value as T | undefined
  }

  async set(key: string, value: T, options?: { ttlMs?: number }): Promise<void> {
    await this.cache.set(this.name, key, value, options)
  }

  async delete(key: string): Promise<boolean> {
    return this.cache.delete(this.name, key)
  }

  /** The cached value, or the result of `load`, which one caller at a time runs and all callers then get. */
  async getOrLoad(key: string, load: Load<T>, options: RemoteEntryOptions<T> = {}): Promise<T | undefined> {
    KNOWN.check(options)
    const context = { signal: new AbortController().signal }
    for (;;) {
      let asked: FillLease<unknown>
      try {
        asked = await this.cache.lease(this.name, key, { waitMs: WAIT_MS })
      } catch (error) {
        if (!isUnavailable(error)) throw error
        // A cache that is away is slow, not wrong.
        return (await load(key, context)) ?? undefined
      }
      if (asked.state === 'cached') return asked.value as T | undefined
      // The lease of the other caller ends by itself.
      if (asked.state === 'busy') continue
      return this.loaded(key, asked, async () => (await load(key, context)) ?? undefined, options)
    }
  }

  private async loaded(
    key: string,
    { lease, stale }: { lease: string; stale?: CacheAnswer<unknown> },
    load: () => Promise<T | undefined>,
    { ttlMs }: RemoteEntryOptions<T>,
  ): Promise<T | undefined> {
    const release = () => this.cache.release(this.name, key, lease).catch(() => {})
    let value: T | undefined
    let given: number | undefined
    try {
      value = await load()
      given = typeof ttlMs !== 'function' ? ttlMs : value === undefined ? undefined : ttlMs(value, key)
    } catch (error) {
      await release()
      if (stale === undefined) throw error
      return stale.value as T | undefined
    }
    if (given !== undefined && given <= 0) {
      await release()
      return value
    }
    const ttl = given === undefined ? {} : { ttlMs: Math.floor(given) }
    try {
      await this.cache.fill(this.name, key, value, { lease, ...ttl })
    } catch (error) {
      // Deleted while it was loaded, or the server is away: the value is right for this caller, and nobody else gets it.
      if (!isCatracaError(error, 'CACHE_LEASE_LOST') && !isUnavailable(error)) throw error
    }
    return value
  }
}
