import { isCatracaError } from '../../core/errors.js'
import { identifier } from '../../core/identifiers.js'
import type { CacheApi } from '../../guards/cache/api.js'
import type { CacheAnswer, FillLease, LeaseOptions, SpaceStats } from '../../guards/cache/types.js'
import type { HttpTransport } from './transport.js'

/** The cache over HTTP, with the results and errors of the library. */
export class HttpCache implements CacheApi {
  constructor(private readonly http: HttpTransport) {}

  async get(space: string, key: string): Promise<CacheAnswer<unknown> | undefined> {
    try {
      const path = entryPath(space, key)
      const { stale, ...answer } = await this.http.json<CacheAnswer<unknown>>('GET', path)
      return { ...answer, stale: stale === true }
    } catch (error) {
      if (isCatracaError(error, 'CACHE_KEY_NOT_FOUND')) return undefined
      throw error
    }
  }

  async set(space: string, key: string, value: unknown, options: { ttlMs?: number } = {}): Promise<void> {
    await this.http.json('PUT', entryPath(space, key), { body: { value, ...options } })
  }

  async lease(
    space: string,
    key: string,
    { signal, ...body }: LeaseOptions = {},
  ): Promise<FillLease<unknown>> {
    const call = { body, ...(signal && { signal }) }
    const answer = await this.http.json<LeaseBody>('POST', `${entryPath(space, key)}/lease`, call)
    const { lease, expiresAt, retryAfterMs, value, ageMs, stale = false, ...rest } = answer
    if (retryAfterMs !== undefined) return { state: 'busy', retryAfterMs }
    const cached = { ...rest, value: value ?? undefined, ageMs: ageMs ?? 0, stale }
    if (lease === undefined) return { state: 'cached', ...cached }
    const yours = { state: 'yours' as const, lease, expiresAt: new Date(expiresAt!) }
    return ageMs === undefined ? yours : { ...yours, stale: cached }
  }

  async fill(
    space: string,
    key: string,
    value: unknown,
    options: { lease: string; ttlMs?: number },
  ): Promise<void> {
    await this.http.json('PUT', entryPath(space, key), { body: { value: value ?? null, ...options } })
  }

  async release(space: string, key: string, lease: string): Promise<void> {
    await this.http.json('DELETE', `${entryPath(space, key)}/lease/${encodeURIComponent(lease)}`)
  }

  async expire(space: string, key: string): Promise<void> {
    await this.http.json('POST', `${entryPath(space, key)}/expire`)
  }

  /** The server does not report whether the key existed. */
  async delete(space: string, key: string): Promise<boolean> {
    await this.http.json('DELETE', entryPath(space, key))
    return true
  }

  async stats(): Promise<Record<string, SpaceStats>> {
    return (await this.http.json<{ spaces: Record<string, SpaceStats> }>('GET', '/cache')).spaces
  }
}

/** The response to a lease request, for all of its statuses. */
interface LeaseBody extends Partial<CacheAnswer<unknown>> {
  lease?: string
  expiresAt?: string
  retryAfterMs?: number
}

const entryPath = (space: string, key: string): string =>
  `/cache/${encodeURIComponent(identifier('space', space))}/${encodeURIComponent(identifier('key', key))}`
