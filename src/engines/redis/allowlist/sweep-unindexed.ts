import { isReset, readEntry } from '../../../guards/allowlist/changes/entry.js'
import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { Redis } from '../link/redis.js'
import { listOf, type RedisList } from './meta.js'
import type { ReverseIndex } from './reverse-index.js'
import type { Shard, Shards } from './shards.js'
import { type Task, type TaskResult, together } from './tasks.js'

/** A live writer has updated the reverse index long before. */
const PATIENCE_MS = 10_000
const ENTRIES_PER_STEP = 100
const SCANNED_PER_STEP = 2000
const MAX_WALKS = 1000

interface Walk {
  /** The last log entry when it began. */
  upTo: number
  cursor: string
  isOver: boolean
}

/** Adds changes to the reverse index whose writer died before it could. */
export class UnindexedChanges {
  /** Walks over shards whose log no longer has the change. */
  private readonly walks = new Map<string, Walk>()

  constructor(
    private readonly redis: Redis,
    private readonly shards: Shards,
    private readonly reverse: ReverseIndex,
  ) {}

  readonly task: Task = async (listId, meta, now) => {
    const list = listOf(listId, meta)
    return together(await Promise.all(this.shards.all(list).map((shard) => this.mend(shard, now))))
  }

  private async mend(shard: Shard, now: number): Promise<TaskResult> {
    const { unindexed } = shard.keys
    const range = ['-inf', String(now - PATIENCE_MS), 'BYSCORE', 'LIMIT', '0', String(ENTRIES_PER_STEP)]
    const sequences = (await this.redis.read(unindexed, ['ZRANGE', unindexed, ...range])) as string[]
    for (const [i, sequence] of sequences.entries()) {
      if (await this.mendEntry(shard, Number(sequence))) this.reverse.arrived(shard.keys, Number(sequence))
      else return { swept: i, more: true }
    }
    if (sequences.length === ENTRIES_PER_STEP) return { swept: sequences.length, more: true }
    const [first] = (await this.redis.read(unindexed, ['ZRANGE', unindexed, '0', '0', 'WITHSCORES'])) as [
      string,
      number,
    ][]
    const next =
      first === undefined ? {} : { nextAt: Math.max(Number(first[1]), now - PATIENCE_MS) + PATIENCE_MS }
    return { swept: sequences.length, more: false, ...next }
  }

  /** False: there is more to do for this entry. */
  private async mendEntry(shard: Shard, sequence: number): Promise<boolean> {
    const { log } = shard.keys
    const args = ['XRANGE', log, String(sequence), String(sequence)]
    const [entry] = (await this.redis.readBinary(log, args)) as [Buffer, Buffer[]][]
    const bytes = entry?.[1][1]
    if (bytes === undefined || isReset(bytes)) return this.walk(shard, sequence)
    await this.assert(shard, customersOf(bytes), sequence)
    return true
  }

  /** The log was trimmed: every member may be the added one. One walk covers all entries that existed when it began. */
  private async walk(shard: Shard, sequence: number): Promise<boolean> {
    const { members, state } = shard.keys
    const name = `${members} ${shard.list.incarnation} ${shard.list.layout}`
    const known = this.walks.get(name)
    const walk =
      known !== undefined && known.upTo >= sequence ? known : { upTo: 0, cursor: '0', isOver: false }
    if (walk.isOver) return true
    if (walk.upTo === 0) walk.upTo = Number(await this.redis.read(state, ['HGET', state, 'sequence']))
    const args = ['SSCAN', members, walk.cursor, 'COUNT', String(SCANNED_PER_STEP)]
    const [cursor, customers] = (await this.redis.read(members, args)) as [string, string[]]
    await this.reverse.noteAll(customers, '+', versionOf(shard.list, walk.upTo))
    walk.cursor = cursor
    walk.isOver = cursor === '0'
    if (this.walks.size >= MAX_WALKS) this.walks.clear()
    this.walks.set(name, walk)
    return walk.isOver
  }

  /** Writes the current state with the number of the change. Entries of later changes stay. */
  private async assert(shard: Shard, customers: string[], sequence: number): Promise<void> {
    const { members } = shard.keys
    const held = (await this.redis.read(members, ['SMISMEMBER', members, ...customers])) as number[]
    const version = versionOf(shard.list, sequence)
    await Promise.all(customers.map((id, i) => this.reverse.note(id, held[i] === 1 ? '+' : '-', version)))
  }
}

const versionOf = ({ id: listId, incarnation, layout }: RedisList, sequence: number) => ({
  ...{ listId, incarnation, layout },
  sequence,
})

function customersOf(entry: Uint8Array): string[] {
  const ids = new Set<string>()
  const note = (bytes: Uint8Array, start: number, end: number) => ids.add(readCustomerKey(bytes, start, end))
  readEntry(entry, { added: note, removed: note })
  return [...ids]
}
