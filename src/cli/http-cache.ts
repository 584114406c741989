import type { CacheApi } from '../cache/api.js'
import type { CacheAnswer, SpaceStats } from '../cache/types.js'
import { isCatracaError } from '../errors.js'
import { identifier } from '../key.js'
import type { HttpTransport } from './http-transport.js'

/** The cache of a server, with the answers and the errors of the library. */
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

  /** The server does not tell whether there was one. */
  async delete(space: string, key: string): Promise<boolean> {
    await this.http.json('DELETE', entryPath(space, key))
    return true
  }

  async stats(): Promise<Record<string, SpaceStats>> {
    return (await this.http.json<{ spaces: Record<string, SpaceStats> }>('GET', '/cache')).spaces
  }
}

const entryPath = (space: string, key: string): string =>
  `/cache/${encodeURIComponent(identifier('space', space))}/${encodeURIComponent(identifier('key', key))}`
