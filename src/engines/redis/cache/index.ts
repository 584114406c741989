import type { Redis } from '../link/redis.js'
import { CacheNotices } from './notices.js'
import { RedisCache } from './store.js'

export type { RedisCache } from './store.js'

export async function openCache(redis: Redis, database: number): Promise<RedisCache> {
  const notices = new CacheNotices(redis, database)
  await notices.open()
  return new RedisCache(redis, notices)
}
