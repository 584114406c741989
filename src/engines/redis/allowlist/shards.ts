import { CatracaError } from '../../../core/errors.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { Catalog } from './catalog.js'
import { type ShardKeys, shardKeys } from './keys.js'
import type { RedisList } from './meta.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'

const OPEN_SHARD = defineScript('allowlist-open-shard', {
  keys: SHARD_KEY_TYPES,
  write: true,
  uses: SHARD_USES,
})

const CLOSE_SHARD = defineScript('allowlist-close-shard', { keys: ['hash', 'hash'], write: true })

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100

/** What those do who know about replaces and moves; see replace.ts and reshard.ts. */
export interface ShardMending {
  /** The metadata has switched to a generation that the shard has yet to switch to. */
  activate(list: RedisList, shard: number): Promise<void>
  /** The shard is frozen by a move: thaws it if the mover is dead. */
  thaw(list: RedisList, shard: number): Promise<void>
}

/** An answer of a script of one shard; its first part is the outcome. */
export type ShardReply = [outcome: string, ...rest: unknown[]]

export interface Shard {
  list: RedisList
  shard: number
  keys: ShardKeys
}

/** Finds the shards of a list, and brings those back into step that are behind. */
export class Shards {
  mending: ShardMending | undefined
  private readonly keysOf = new WeakMap<RedisList, ShardKeys[]>()

  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
    private readonly commandTimeoutMs: number,
  ) {}

  keys(list: RedisList, shard: number): ShardKeys {
    let keys = this.keysOf.get(list)
    if (keys === undefined) this.keysOf.set(list, (keys = new Array(list.shardCount)))
    return (keys[shard] ??= shardKeys(list.id, list.shardCount, shard))
  }

  all(list: RedisList): Shard[] {
    return Array.from({ length: list.shardCount }, (_, shard) => ({
      list,
      shard,
      keys: this.keys(list, shard),
    }))
  }

  /**
   * Runs a script of one shard until it is not refused because the caller knows an old state of the list, or the
   * shard does. Undefined: the list is gone, or (unless `follow` is `id`) another one has its id.
   */
  async run(
    first: RedisList,
    shardOf: (list: RedisList) => number,
    attempt: (shard: Shard) => Promise<unknown>,
    follow: 'list' | 'id' = 'list',
  ): Promise<{ shard: Shard; reply: ShardReply } | undefined> {
    const giveUpMs = performance.now() + this.commandTimeoutMs
    let list: RedisList | undefined = first
    for (let pauseMs = FIRST_PAUSE_MS; list !== undefined; pauseMs *= 2) {
      const number = shardOf(list)
      const shard = { list, shard: number, keys: this.keys(list, number) }
      const reply = (await attempt(shard)) as ShardReply
      if (reply[0] !== 'gone' && reply[0] !== 'stale' && reply[0] !== 'frozen') return { shard, reply }
      if (performance.now() > giveUpMs) {
        throw new CatracaError(
          'ENGINE_UNAVAILABLE',
          `a shard of ${first.id} has been ${reply[0]} for too long`,
        )
      }
      if (reply[0] === 'frozen') {
        await this.mending?.thaw(list, number)
        await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, LONGEST_PAUSE_MS)))
      }
      list = await this.settled(list, number, reply[0])
      if (follow === 'list' && list?.incarnation !== first.incarnation) return undefined
    }
    return undefined
  }

  /** The list as it is now, after its shard was found to be of another state than the list says. */
  async settled(list: RedisList, shard: number, refusal: string): Promise<RedisList | undefined> {
    const now = await this.catalog.read(list.id)
    if (now === list && refusal !== 'frozen') await this.bringForward(list, shard)
    return now
  }

  /**
   * Only when the metadata were just read: brings a shard to the state that they tell of. One that has lost its state
   * goes on with numbers beyond any that it can have given out, or the reverse index would take changes for old ones.
   */
  async bringForward(list: RedisList, shard: number, goOnFrom = Date.now()): Promise<void> {
    const { incarnation, generation } = list
    const keys = this.keys(list, shard)
    const args = [incarnation, generation, Date.now(), goOnFrom, newMark()].map(String)
    const [outcome, found] = (await this.redis.run(OPEN_SHARD, shardScriptKeys(keys), args)) as ShardReply
    if (outcome !== 'open') return
    if (Number(found) < generation) await this.mending?.activate(list, shard)
    const now = await this.catalog.read(list.id)
    // Deleted or moved meanwhile: nobody may find it open.
    if (now?.incarnation !== incarnation || now.layout !== list.layout) await this.close(keys, incarnation)
  }

  /** Writers and readers that know a shard of old are refused from here on. */
  async close({ state, attributes }: ShardKeys, incarnation: number): Promise<void> {
    await this.redis.run(CLOSE_SHARD, [state, attributes], [String(incarnation)])
  }
}
