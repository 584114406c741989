import { chunksOf } from '../../../core/chunks.js'
import { isReset, readEntry } from '../../../guards/allowlist/changes/entry.js'
import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import type { Argument } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import { again } from './bulk-shards.js'
import type { ShardKeys } from './keys.js'
import type { RedisList } from './meta.js'

const SCAN = defineScript('allowlist-reshard-scan', { keys: 2, write: false })
const PUT = defineScript('allowlist-reshard-put', { keys: ['hash', 'set', 'hash', 'zset'], write: true })
const LOG = defineScript('allowlist-log', { keys: 2, write: false })
const LOOK_UP = defineScript('allowlist-check', { keys: 2, write: false })

const WALKED_AT_ONCE = 500
/** Steps of the walk between two reads of the log, which must not be trimmed meanwhile. */
const STEPS_BETWEEN_LOOKS = 20
const ENTRIES_AT_ONCE = 64
const CUSTOMERS_AT_ONCE = 400
const NO_MEMBER = '-'

/** The mover lost its lease, the list was deleted, or the copy must start again because the log was trimmed. */
export class MoveStopped extends Error {
  constructor(readonly reason: 'lost' | 'gone' | 'gap') {
    super(reason)
  }
}

/** Customer and attributes in turn, as in the scripts; as bytes where a customer need not be text. */
type Pairs = Argument[]

/**
 * Copies one shard into the new shards, and follows its log. All steps run in sequence: each write of a customer was
 * read after the previous write of it, so the last write is the latest state.
 */
export class ShardCopy {
  private position = { sequence: '0', mark: '0' }
  copied = 0

  constructor(
    private readonly context: BulkContext,
    private readonly list: RedisList,
    private readonly from: ShardKeys,
    private readonly to: readonly ShardKeys[],
    private readonly owner: string,
  ) {}

  async copy(onProgress: () => void): Promise<void> {
    const { redis } = this.context
    const { state, members, attributes } = this.from
    // Read before the walk: changes after this entry are followed.
    const [sequence, mark] = (await again(() => redis.read(state, ['HMGET', state, 'sequence', 'mark']))) as (
      | string
      | null
    )[]
    this.position = { sequence: sequence ?? '0', mark: mark ?? '0' }
    let cursor = '0'
    let steps = 0
    do {
      const args = [cursor, String(WALKED_AT_ONCE)]
      const step = () => redis.run(SCAN, [members, attributes], args, { binary: true })
      const [next, ...pairs] = (await again(step)) as Buffer[]
      cursor = String(next)
      await this.put(pairs)
      this.copied += pairs.length / 2
      if (++steps % STEPS_BETWEEN_LOOKS === 0) await this.follow()
      onProgress()
    } while (cursor !== '0')
  }

  /** Copies the changes since the last call. Returns the number of log entries. */
  async follow(): Promise<number> {
    let entries = 0
    for (;;) {
      const found = await this.entries()
      if (found.length === 0) return entries
      entries += found.length
      const customers = new Set<string>()
      const note = (bytes: Uint8Array, start: number, end: number) =>
        customers.add(readCustomerKey(bytes, start, end))
      for (const { bytes } of found) {
        if (isReset(bytes)) throw new MoveStopped('gap')
        readEntry(bytes, { added: note, removed: note })
      }
      await this.bring([...customers])
      const [sequence, mark] = found.at(-1)!.id.split('-') as [string, string]
      this.position = { sequence, mark }
    }
  }

  private async entries(): Promise<{ id: string; bytes: Buffer }[]> {
    const { state, log } = this.from
    const args = [
      String(this.list.incarnation),
      this.position.sequence,
      this.position.mark,
      String(ENTRIES_AT_ONCE),
    ]
    const reply = await again(() => this.context.redis.run(LOG, [state, log], args, { binary: true }))
    if (reply === null) throw new MoveStopped('gap')
    const [, , ...parts] = reply as [number, ...Buffer[]]
    return Array.from({ length: parts.length / 2 }, (_, i) => ({
      id: parts[2 * i]!.toString(),
      bytes: parts[2 * i + 1]!,
    }))
  }

  /** Copies the customers as the shard has them now. */
  private async bring(customers: string[]): Promise<void> {
    const { members, attributes } = this.from
    for (const asked of chunksOf(customers, CUSTOMERS_AT_ONCE)) {
      const reply = await again(() => this.context.redis.run(LOOK_UP, [members, attributes], asked))
      const [, held, texts] = reply as [string | null, number[], (string | null)[]]
      await this.put(asked.flatMap((id, i) => [id, held[i] === 1 ? (texts[i] ?? '') : NO_MEMBER]))
    }
  }

  private async put(pairs: Pairs): Promise<void> {
    const { redis } = this.context
    const { state } = this.from
    const byShard = new Map<number, Pairs>()
    for (let i = 0; i < pairs.length; i += 2) {
      const shard = shardOf(String(pairs[i]), this.to.length)
      const part = byShard.get(shard)
      if (part === undefined) byShard.set(shard, [pairs[i]!, pairs[i + 1]!])
      else part.push(pairs[i]!, pairs[i + 1]!)
    }
    const updatedAt = String((await again(() => redis.read(state, ['HGET', state, 'updatedAt']))) ?? '0')
    await Promise.all(
      [...byShard].map(async ([shard, part]) => {
        const keys = this.to[shard]!
        for (const pairs of chunksOf(part, 2 * CUSTOMERS_AT_ONCE)) {
          const args = [this.owner, updatedAt, ...pairs]
          const scriptKeys = [keys.state, keys.members, keys.attributes, keys.expiries]
          const outcome = await again(() => redis.run(PUT, scriptKeys, args, { gathered: true }))
          if (outcome !== 'stored') throw new MoveStopped('lost')
        }
      }),
    )
  }
}
