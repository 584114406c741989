import type { Redis } from '../link/redis.js'
import { besidePattern, valuePattern } from './keys.js'
import type { CacheNotices } from './notices.js'

const SCANNED_AT_ONCE = '1000'

/**
 * Removes all keys of a space, also those of other programs, one batch at a time. Leases are removed first: a fill
 * that still stores its value has done so before the values are scanned, and a scan finds every key that exists when
 * it begins.
 */
export async function clearSpace(redis: Redis, notices: CacheNotices, space: string): Promise<void> {
  await removeAll(redis, besidePattern(space, 'fill'))
  await removeAll(redis, valuePattern(space))
  await removeAll(redis, besidePattern(space, 'tags'))
  await notices.tell({ kind: 'cleared', space })
}

async function removeAll(redis: Redis, pattern: string): Promise<void> {
  await Promise.all(redis.primaries().map((address) => removeAt(redis, address, pattern)))
}

async function removeAt(redis: Redis, address: string, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE]
    const [next, keys] = (await redis.readAt(address, args)) as [string, string[]]
    await Promise.all(keys.map((key) => redis.write(key, ['UNLINK', key])))
    cursor = next
  } while (cursor !== '0')
}
