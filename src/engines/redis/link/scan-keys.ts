import { invalidPlace, type Listing, type ListingRequest, MAX_EXAMINED } from '../../../core/listing.js'
import type { Redis } from './redis.js'

const KEYS_PER_STEP = 500
const PLACE = /^(\S{1,300}) (\d{1,20})$/

/**
 * Keys that match a pattern, on all primaries, one server after the other. SCAN never blocks a server for long, and a
 * call makes a bounded number of steps. A key may come twice if its server resizes its table meanwhile.
 */
export async function scanKeys(
  redis: Redis,
  pattern: string,
  { after, limit }: Pick<ListingRequest, 'after' | 'limit'>,
): Promise<Listing<string>> {
  const servers = redis.primaries().toSorted()
  let { server, cursor } = after === undefined ? { server: servers[0], cursor: '0' } : placeIn(servers, after)
  const keys = new Set<string>()
  for (let examined = 0; server !== undefined; examined += KEYS_PER_STEP) {
    if (examined >= MAX_EXAMINED || keys.size >= limit)
      return { items: [...keys], next: `${server} ${cursor}` }
    const args = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(KEYS_PER_STEP)]
    const [next, found] = (await redis.readAt(server, args)) as [string, string[]]
    for (const key of found) keys.add(key)
    cursor = next
    if (cursor === '0') server = servers[servers.indexOf(server) + 1]
  }
  return { items: [...keys] }
}

/** If the server is no primary any more, its keys are on others: goes on with the next one. */
function placeIn(servers: readonly string[], after: string): { server: string | undefined; cursor: string } {
  const [, server, cursor] = PLACE.exec(after) ?? []
  if (server === undefined) throw invalidPlace()
  if (servers.includes(server)) return { server, cursor: cursor! }
  return { server: servers.find((other) => other > server), cursor: '0' }
}
