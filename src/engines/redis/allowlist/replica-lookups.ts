import type { Position } from '../../../guards/allowlist/changes/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { Coalescer, returning } from '../link/coalescer.js'
import type { Redis } from '../link/redis.js'
import { GENERATION_FIELD, generationValue } from './attributes.js'
import type { Found } from './lookups.js'
import type { RedisList } from './meta.js'
import type { Shard, Shards } from './shards.js'

const MAX_BATCH = 512

interface Asked {
  customerId: string
  /** The number of the log entry that the replica must have. */
  sequence: number
}

/** What a replica said of a customer. */
export interface Copied {
  found: Found
}

type Replies = [
  sequence: string | null,
  before: string | null,
  held: number[],
  [after: string | null, ...attributes: (string | null)[]],
]

/**
 * Looks up customers in replicas. Commands of one connection see the same or later states, in order, so a replica whose
 * log has the required entry, and whose generation is that of the list before and after, has told a state that is not
 * older than what memory knows.
 */
export class ReplicaLookups {
  /** Of lookups, how many a replica answered, and how many went to the primary after all. */
  readonly counts = { answered: 0, passedOn: 0 }
  private readonly batches: Coalescer<Shard, Asked, Copied | undefined>
  private readonly groups = new WeakMap<RedisList, Shard[]>()

  constructor(
    private readonly redis: Redis,
    private readonly shards: Shards,
  ) {
    this.batches = new Coalescer(
      returning((shard, asked) => this.carry(shard, asked)),
      { maxItems: MAX_BATCH },
    )
  }

  /** Undefined: no replica can tell. */
  async find(list: RedisList, customerId: string, atLeast: Position): Promise<Copied | undefined> {
    // During a move to other shards, image and list may differ.
    if (atLeast.length !== list.shardCount) return undefined
    let groups = this.groups.get(list)
    if (groups === undefined) this.groups.set(list, (groups = this.shards.all(list)))
    const shard = shardOf(customerId, list.shardCount)
    const { sequence } = atLeast[shard]!
    const copied = await this.batches.ask(groups[shard]!, { customerId, sequence })
    if (copied === undefined) this.counts.passedOn++
    else this.counts.answered++
    return copied
  }

  private async carry({ list, keys }: Shard, asked: readonly Asked[]): Promise<(Copied | undefined)[]> {
    const ids = asked.map(({ customerId }) => customerId)
    const replies = (await this.redis.readOnReplica(keys.members, [
      ['HGET', keys.state, 'sequence'],
      ['HGET', keys.attributes, GENERATION_FIELD],
      ['SMISMEMBER', keys.members, ...ids],
      ['HMGET', keys.attributes, GENERATION_FIELD, ...ids],
    ])) as Replies | undefined
    if (replies === undefined) return asked.map(() => undefined)
    const [sequence, before, held, [after, ...attributes]] = replies
    const wanted = generationValue(list.incarnation, list.generation)
    if (before !== wanted || after !== wanted) return asked.map(() => undefined)
    return asked.map((one, i): Copied | undefined => {
      if (Number(sequence ?? 0) < one.sequence) return undefined
      if (held[i] !== 1) return { found: undefined }
      // Removed between the two commands, or put there by another program: the primary tells both at one moment.
      const text = attributes[i] ?? null
      return text === null ? undefined : { found: { attributes: text } }
    })
  }
}
