import type { DynamoClient } from '../client/client.js'
import { CacheNotices } from './notices.js'
import { DynamodbCache } from './store.js'

export type { DynamodbCache } from './store.js'

export interface CacheParts {
  client: DynamoClient
  /** The table for guards. */
  table: string
  /** The clock of this process, and its offset to the server's. */
  server: { now: () => number; offsetMs(): number }
}

export function openCache({ client, table, server }: CacheParts): DynamodbCache {
  const guards = { client, table, at: (now: number) => Math.round(now + server.offsetMs()) }
  return new DynamodbCache(guards, new CacheNotices(guards, server.now))
}
