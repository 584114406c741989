import type { DynamoClient } from '../client/client.js'

/** Shared by all parts of the cache. */
export interface CacheTable {
  readonly client: DynamoClient
  /** The table for guards. */
  readonly table: string
  /** The caller's time, corrected by DynamoDB's clock: expiries are stored as times, which pods compare. */
  at(now: number): number
}

/** Margin after which TTL may delete an expired item. The content decides, so later is fine. */
const TTL_MARGIN_SECONDS = 300
export const ttlOf = (endsAt: number): number => Math.ceil(endsAt / 1000) + TTL_MARGIN_SECONDS
