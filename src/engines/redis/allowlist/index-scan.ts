import { CatracaError } from '../../../core/errors.js'
import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { MAX_CUSTOMER_KEY_LENGTH, writeCustomerKeyFromBytes } from '../../../guards/allowlist/customer-key.js'
import type { KeyBlock } from '../../../guards/allowlist/membership/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { generationValue } from './attributes.js'
import type { Catalog } from './catalog.js'
import type { RedisList } from './meta.js'
import type { Shards } from './shards.js'

const SCAN = defineScript('allowlist-scan', { keys: 2, write: false })
const SCANNED_AT_ONCE = 4000
const MAX_RESTARTS = 10

type ScanReply = [generation: Buffer | null, next: Buffer, ids: Buffer[]]

/** Scans all members to build the index. */
export class IndexScan {
  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
    private readonly shards: Shards,
  ) {}

  async *scan({ id, incarnation }: ListRef): AsyncGenerator<KeyBlock> {
    const list = await this.catalog.read(id)
    if (list?.incarnation !== incarnation) return
    for (let shard = 0; shard < list.shardCount; shard++) yield* this.scanShard(list, shard)
  }

  /** A cursor is meaningless in the set of another generation: then the shard is scanned again from its beginning. */
  private async *scanShard(first: RedisList, shard: number): AsyncGenerator<KeyBlock> {
    let list: RedisList | undefined = first
    let cursor: string | undefined
    let restarts = 0
    while (cursor !== '0') {
      const { members, attributes } = this.shards.keys(list, shard)
      const args = [cursor ?? '0', String(SCANNED_AT_ONCE)]
      const reply = await this.redis.run(SCAN, [members, attributes], args, { binary: true })
      const [generation, next, ids] = reply as ScanReply
      if (generation?.toString() === generationValue(list.incarnation, list.generation)) {
        if (ids.length > 0) yield blockOf(ids)
        cursor = next.toString()
        continue
      }
      list = await this.shards.settled(list, shard, 'stale')
      if (list?.incarnation !== first.incarnation) return
      if (list.shardCount !== first.shardCount || ++restarts > MAX_RESTARTS) {
        throw new CatracaError('ENGINE_UNAVAILABLE', `the members of ${first.id} moved while they were read`)
      }
      cursor = undefined
    }
  }
}

/** Elements that are not identifiers, put there by another program, cannot be checked and are left out. */
function blockOf(ids: readonly Buffer[]): KeyBlock {
  const bytes = new Uint8Array(ids.reduce((sum, id) => sum + Math.min(id.length, MAX_CUSTOMER_KEY_LENGTH), 0))
  const ends = new Uint32Array(ids.length)
  let end = 0
  let count = 0
  for (const id of ids) {
    if (id.length > MAX_CUSTOMER_KEY_LENGTH) continue
    const behind = writeCustomerKeyFromBytes(id, 0, id.length, bytes, end)
    if (behind < 0) continue
    end = behind
    ends[count++] = end
  }
  return { bytes, ends, count }
}
