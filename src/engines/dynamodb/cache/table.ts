import type { DynamoClient } from '../client/client.js'

/** What every part of the cache works with. */
export interface CacheTable {
  readonly client: DynamoClient
  /** The table of guards. */
  readonly table: string
  /** The caller's time as DynamoDB's clock corrects it: lives are kept as moments, which pods compare. */
  at(now: number): number
}

/** When TTL may delete what ends then: content decides, so it may well be later. */
const TTL_MARGIN_SECONDS = 300
export const ttlOf = (endsAt: number): number => Math.ceil(endsAt / 1000) + TTL_MARGIN_SECONDS
