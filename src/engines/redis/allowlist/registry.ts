import type { Redis } from '../link/redis.js'
import { REGISTRY_KEY } from './keys.js'

/** The ids of all lists in order, in portions. May contain deleted lists. */
export async function* registeredLists(
  redis: Redis,
  after: string | undefined,
  portion: number,
): AsyncGenerator<string[]> {
  let from = after === undefined ? '-' : `(${after}`
  for (;;) {
    const args = ['ZRANGE', REGISTRY_KEY, from, '+', 'BYLEX', 'LIMIT', '0', String(portion)]
    const ids = (await redis.read(REGISTRY_KEY, args)) as string[]
    if (ids.length > 0) yield ids
    if (ids.length < portion) return
    from = `(${ids.at(-1)}`
  }
}
