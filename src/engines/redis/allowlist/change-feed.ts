import type {
  ChangeFeed,
  ListRef,
  LogEntry,
  LogPart,
  LogPosition,
  Position,
} from '../../../guards/allowlist/changes/port.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import { shardKeys } from './keys.js'
import type { RedisList } from './meta.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'
import type { Shards } from './shards.js'

const READ = defineScript('allowlist-log', { keys: 2, write: false })
const READ_AND_COMPARE = defineScript('allowlist-log', { keys: 3, write: false })
const RECOUNT = defineScript('allowlist-recount', { keys: SHARD_KEY_TYPES, write: true, uses: SHARD_USES })
const READ_ENTRIES = 128
const BINARY = { binary: true }
/** The set has other members than the log says. */
const UNFIT = 0

type LogReply = [last: number, generation: Buffer, ...entries: Buffer[]]

/** The change logs of lists: one per shard, written by the script that makes the change. */
export class RedisChanges implements ChangeFeed {
  readonly isImmediate = false

  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
    private readonly shards: Shards,
    private readonly wake: ChangeChannel,
    private readonly maxLogBytes: number,
  ) {}

  async position({ id, incarnation }: ListRef): Promise<Position | undefined> {
    const list = await this.catalog.read(id)
    if (list?.incarnation !== incarnation) return undefined
    const found = await Promise.all(this.shards.all(list).map(({ shard }) => this.lastOf(list, shard)))
    return found.every((last) => last !== undefined) ? found : undefined
  }

  private async lastOf(list: RedisList, shard: number): Promise<LogPosition | undefined> {
    const { state } = this.shards.keys(list, shard)
    for (let tries = 0; tries < 3; tries++) {
      const args = ['HMGET', state, 'incarnation', 'sequence', 'mark']
      const [incarnation, sequence, mark] = (await this.redis.read(state, args)) as (string | null)[]
      if (incarnation === String(list.incarnation)) return { sequence: Number(sequence), mark: Number(mark) }
      if ((await this.shards.settled(list, shard, 'gone')) !== list) return undefined
    }
    return undefined
  }

  async read(list: ListRef, after: Position): Promise<LogPart | 'gap'> {
    const known = await this.catalog.checked(list.id)
    if (known?.incarnation !== list.incarnation || known.shardCount !== after.length) {
      // Only Redis knows whether the number of logs has changed.
      const now = await this.catalog.read(list.id)
      if (now?.incarnation !== list.incarnation || now.shardCount !== after.length) return 'gap'
    }
    const parts = await Promise.all(
      after.map((position, log) => this.readLog(list, after.length, log, position)),
    )
    const whole = { entries: [] as LogEntry[], more: false, generation: Number.POSITIVE_INFINITY }
    for (const part of parts) {
      if (part === 'gap') return 'gap'
      whole.entries.push(...part.entries)
      whole.more ||= part.more
      whole.generation = Math.min(whole.generation, part.generation!)
    }
    return whole
  }

  private async readLog(
    { id, incarnation }: ListRef,
    logs: number,
    log: number,
    { sequence, mark }: LogPosition,
  ): Promise<LogPart | 'gap'> {
    const keys = shardKeys(id, logs, log)
    const args = [incarnation, sequence, mark, READ_ENTRIES].map(String)
    let reply = await this.redis.run(READ_AND_COMPARE, [keys.state, keys.log, keys.members], args, BINARY)
    if (reply === UNFIT) {
      // Another program changed the set without the log. Followers must load the whole set again.
      const told = [incarnation, newMark(), this.maxLogBytes].map(String)
      await this.redis.run(RECOUNT, shardScriptKeys(keys), [...told, this.wake.channel, id])
      reply = await this.redis.run(READ, [keys.state, keys.log], args, BINARY)
    }
    if (reply === null) return 'gap'
    const [last, generation, ...found] = reply as LogReply
    const entries: LogEntry[] = []
    for (let i = 0; i + 1 < found.length; i += 2) {
      const [number, entryMark] = found[i]!.toString('latin1').split('-').map(Number)
      entries.push({ log, sequence: number!, mark: entryMark!, bytes: found[i + 1]! })
    }
    const more = (entries.at(-1)?.sequence ?? sequence) < last
    return { entries, more, generation: Number(generation) }
  }

  /** Changes are only reported by messages, which may be lost. */
  hasChanges(): boolean {
    return false
  }

  watch(wake: (listId?: string) => void): { stop(): void } {
    return this.wake.listen({ onMembers: (listId) => wake(listId) })
  }
}
