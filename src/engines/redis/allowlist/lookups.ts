import { ViewChanged } from '../../../guards/allowlist/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { Coalescer, returning } from '../link/coalescer.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { GENERATION_FIELD, generationValue } from './attributes.js'
import type { RedisList } from './meta.js'
import type { Shard, Shards } from './shards.js'
import { unlessForeign } from './unreadable-keys.js'

const CHECKED_TYPES = ['set', 'hash'] as const
const CHECK = defineScript('allowlist-check', { keys: CHECKED_TYPES, write: false })
const MAX_BATCH = 512

/** `attributes` of a member, null if it has none; undefined: not a member. */
export type Found = { attributes: string | null } | undefined

interface Answers {
  /** The generation of the set: at the end, and where it matters also at the beginning. */
  generations: (string | null)[]
  held: number[]
  attributes: (string | null)[]
}

/** Looks up customers. Lookups of one shard in the same event-loop turn share one SMISMEMBER. */
export class Lookups {
  private readonly batches: Coalescer<Shard, string, Found>
  private readonly groups = new WeakMap<RedisList, Shard[]>()
  /** Lists with members without attributes, which another program put there. */
  private readonly withForeign = new WeakSet<RedisList>()

  constructor(
    private readonly redis: Redis,
    private readonly shards: Shards,
  ) {
    this.batches = new Coalescer(
      returning((shard, ids) => this.carry(shard, ids)),
      { maxItems: MAX_BATCH },
    )
  }

  /** Rejects with ViewChanged if the set is no longer of the generation of the list. */
  find(list: RedisList, customerId: string): Promise<Found> {
    let groups = this.groups.get(list)
    if (groups === undefined) this.groups.set(list, (groups = this.shards.all(list)))
    return this.batches.ask(groups[shardOf(customerId, list.shardCount)]!, customerId)
  }

  private carry(shard: Shard, customerIds: string[]): Promise<(Found | Error)[]> {
    const { list, keys } = shard
    return this.answers(shard, customerIds).catch((error) =>
      unlessForeign(error, this.redis, list.id, [keys.members, keys.attributes], CHECKED_TYPES),
    )
  }

  private async answers(shard: Shard, customerIds: string[]): Promise<(Found | Error)[]> {
    const { list } = shard
    const places = new Map<string, number>()
    for (const id of customerIds) if (!places.has(id)) places.set(id, places.size)
    const ids = [...places.keys()]
    const foreign = this.withForeign.has(list)
    let answers = foreign ? await this.askAtOnce(shard, ids) : await this.askOneByOne(shard, ids)
    // The member was removed between the two commands, perhaps because it expired, or never had attributes.
    if (!foreign && answers.held.some((held, i) => held === 1 && answers.attributes[i] == null)) {
      answers = await this.askAtOnce(shard, ids)
      if (answers.held.some((held, i) => held === 1 && answers.attributes[i] == null))
        this.withForeign.add(list)
    }
    const wanted = generationValue(list.incarnation, list.generation)
    if (answers.generations.some((generation) => generation !== wanted)) {
      await this.shards.settled(list, shard.shard, 'stale')
      return customerIds.map(() => new ViewChanged())
    }
    return customerIds.map((id) => {
      const place = places.get(id)!
      return answers.held[place] === 1 ? { attributes: answers.attributes[place] ?? null } : undefined
    })
  }

  /**
   * Two plain commands: a script costs ten times as much. With one shard, metadata and set switch to another
   * generation in one step, so the set has the list's generation or a later one. With several shards, the generation
   * is read too.
   */
  private async askOneByOne({ list, keys }: Shard, ids: string[]): Promise<Answers> {
    const { members, attributes: key } = keys
    const commands = [
      ['SMISMEMBER', members, ...ids],
      ['HMGET', key, GENERATION_FIELD, ...ids],
    ]
    if (list.shardCount > 1) commands.unshift(['HGET', key, GENERATION_FIELD])
    const replies = await this.redis.readInOrder(members, commands)
    const [generation, ...attributes] = replies.pop() as (string | null)[]
    const held = replies.pop() as number[]
    return { generations: [generation!, ...(replies as string[])], held, attributes }
  }

  private async askAtOnce({ keys }: Shard, ids: string[]): Promise<Answers> {
    const reply = await this.redis.run(CHECK, [keys.members, keys.attributes], ids, { gathered: true })
    const [generation, held, attributes] = reply as [string | null, number[], (string | null)[]]
    return { generations: [generation], held, attributes }
  }
}
