import { createHash } from 'node:crypto'

/**
 * The shard of a customer, by the rule of the source design, so that other programs find it too: the first 32 bits
 * of the MD5 of the customer id, modulo the number of shards.
 */
export function shardOf(customerId: string, shardCount: number): number {
  if (shardCount === 1) return 0
  return createHash('md5').update(customerId).digest().readUInt32BE(0) % shardCount
}
