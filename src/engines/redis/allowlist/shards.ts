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

/** Repairs that replaces and moves provide; see replace.ts and reshard.ts. */
interface ShardRepair {
  /** The metadata has switched to a generation that the shard has not switched to yet. */
  activate(list: RedisList, shard: number): Promise<void>
  /** The shard is frozen by a move: thaws it if the mover is dead. */
  thaw(list: RedisList, shard: number): Promise<void>
}

/** The reply of a shard's script; its first part is the outcome. */
type ShardReply = [outcome: string, ...rest: unknown[]]

export interface Shard {
  list: RedisList
  shard: number
  keys: ShardKeys
}

/** Finds the shards of a list, and repairs those that are behind their list. */
export class Shards {
  mending: ShardRepair | undefined
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
   * Runs a script of one shard, and repeats it while it is refused because the caller's list or the shard is
   * outdated. Undefined: the list was deleted, or (unless `follow` is `id`) recreated.
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

  /**
   * The list as it is now, after its shard refused because of another state. Repairs the shard if the list is
   * unchanged.
   */
  async settled(list: RedisList, shard: number, refusal: string): Promise<RedisList | undefined> {
    const now = await this.catalog.read(list.id)
    if (now === list && refusal !== 'frozen') await this.bringForward(list, shard)
    return now
  }

  /**
   * Only with metadata that were just read: brings a shard to the state in them. A shard that lost its state
   * continues with sequence numbers above any that it can have used, so that no token of a lost change is taken for
   * one of a later change.
   */
  async bringForward(list: RedisList, shard: number, goOnFrom = Date.now()): Promise<void> {
    const { incarnation, generation } = list
    const keys = this.keys(list, shard)
    const args = [incarnation, generation, Date.now(), goOnFrom, newMark()].map(String)
    const [outcome, found] = (await this.redis.run(OPEN_SHARD, shardScriptKeys(keys), args)) as ShardReply
    if (outcome !== 'open') return
    if (Number(found) < generation) await this.mending?.activate(list, shard)
    const now = await this.catalog.read(list.id)
    // It was deleted or moved meanwhile: the shard must not stay open.
    if (now?.incarnation !== incarnation || now.layout !== list.layout) await this.close(keys, incarnation)
  }

  /** From now on the shard refuses writers and readers with an outdated list. */
  async close({ state, attributes }: ShardKeys, incarnation: number): Promise<void> {
    await this.redis.run(CLOSE_SHARD, [state, attributes], [String(incarnation)])
  }
}
