import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import type {
  ImportCheckpoint,
  ImportSession,
  ReplaceCounts,
  ReplaceOutcome,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import { defineScript } from '../link/script.js'
import { activate } from './activate.js'
import type { BulkContext } from './bulk-context.js'
import { Parts, placesFrom, rowsByShard, type ShardRows } from './bulk-rows.js'
import { ALONE, namedRows, type PartReply, sendInOrder } from './bulk-send.js'
import { again, neverReady, ROUNDS } from './bulk-shards.js'
import { checkpointText } from './imports.js'
import { listKeys } from './keys.js'
import { listOf, type Meta, type RedisList } from './meta.js'
import { Differences } from './replace-differences.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'
import type { Shard } from './shards.js'

const PUT = defineScript('allowlist-replace-put', {
  keys: [...SHARD_KEY_TYPES, 'hash'],
  write: true,
  uses: [...SHARD_USES, 'allowlist-import-batch'],
})
const SWITCH_ONE = defineScript('allowlist-switch-one', {
  keys: [...SHARD_KEY_TYPES, 'set', 'hash', 'hash'],
  write: true,
  uses: [...SHARD_USES, 'allowlist-import-claim', 'allowlist-activate-shard'],
})
const SWITCH_META = defineScript('allowlist-switch-meta', {
  keys: ['hash', 'hash'],
  write: true,
  uses: ['allowlist-import-claim'],
})

/** How much of the file one shard has stored. */
interface Progress {
  rows: number
  added: number
}

/**
 * Builds the next generation of a list in separate sets, where single writes go too, and switches to it. No reader
 * sees any of it before the switch.
 */
export class Replacement {
  private list!: RedisList
  private generation!: string
  private progress: Progress[] = []
  private differences!: Differences

  constructor(
    private readonly context: BulkContext,
    private readonly session: ImportSession,
    private readonly advance: (counts: ReplaceCounts) => ImportCheckpoint,
    private readonly now: () => number,
  ) {}

  async run(runs: AsyncIterable<SortedCustomers>): Promise<ReplaceOutcome> {
    try {
      await this.open()
      for await (const run of runs) {
        const parts = rowsByShard(run, placesFrom(0, run.count), this.list.shardCount)
        await Promise.all(parts.map((rows) => this.put(run, rows)))
      }
      const counts = this.list.shardCount === 1 ? await this.switchOne() : await this.switchAll()
      this.context.catalog.forget(this.list.id)
      return { outcome: 'replaced', ...counts }
    } catch (error) {
      if (error instanceof ImportStopped) return { outcome: error.outcome }
      throw error
    }
  }

  private async open(): Promise<void> {
    const { catalog, redis, shards } = this.context
    const { listId, incarnation, importId } = this.session
    const meta = await again(() => catalog.readMeta(listId))
    this.list = listOf(listId, mustBe(meta, incarnation))
    const replacing = meta!.replacing === undefined ? undefined : JSON.parse(meta!.replacing)
    if (replacing?.importId !== importId) throw new ImportStopped('lost')
    this.generation = String(replacing.generation)
    const states = await Promise.all(
      shards
        .all(this.list)
        .map(({ keys }) => again(() => redis.read(keys.state, ['HGET', keys.state, 'next']))),
    )
    if (states.some((next) => next !== this.generation)) throw new ImportStopped('lost')
    this.progress = states.map(() => ({ rows: 0, added: 0 }))
    this.differences = new Differences(this.context, this.shard(0))
    if (this.list.shardCount > 1) this.differences.giveUp()
  }

  private shard(shard: number): Shard {
    return { list: this.list, shard, keys: this.context.shards.keys(this.list, shard) }
  }

  private async put(run: SortedCustomers, rows: ShardRows): Promise<void> {
    const { redis, due } = this.context
    const { listId, importId, owner, incarnation, addedBy } = this.session
    const { keys } = this.shard(rows.shard)
    const progress = this.progress[rows.shard]!
    const before = progress.rows
    const parts = new Parts(run, rows, addedBy)
    const who = [String(incarnation), this.generation, importId, owner]
    const sent = await sendInOrder({
      count: parts.count,
      start: 0,
      cut: (start) => parts.cut(start),
      send: async (part) => {
        const now = this.now()
        if (part.firstExpiryAt !== Number.POSITIVE_INFINITY) await due.note(listId, part.firstExpiryAt, now)
        const place = [String(before + part.start), String(part.end - part.start), String(now), parts.tail]
        const scriptKeys = [...shardScriptKeys(keys), keys.writers]
        const reply = await redis.run(PUT, scriptKeys, [...who, ...place, ...part.args], ALONE)
        const [outcome, applied = 0, ...rest] = reply as PartReply
        return [outcome, applied - before, ...rest]
      },
      onStored: (part, [, , , different]) => this.differences.add(namedRows(part, parts, different)),
      // It is unknown which of them differ.
      onSkipped: () => this.differences.giveUp(),
    })
    if (sent.outcome !== 'stored') throw new ImportStopped(await this.reason(sent.outcome))
    progress.rows += parts.count
    progress.added = sent.added
  }

  private async reason(outcome: 'gone' | 'frozen' | 'lost'): Promise<'lost' | 'list-not-found'> {
    if (outcome === 'lost') return 'lost'
    mustBe(await this.context.catalog.readMeta(this.list.id), this.session.incarnation)
    return 'lost'
  }

  private sum(): { added: number; unchanged: number } {
    const added = this.progress.reduce((sum, one) => sum + one.added, 0)
    return { added, unchanged: this.progress.reduce((sum, one) => sum + one.rows, 0) - added }
  }

  private async figures({ keys }: Shard): Promise<{ members: number; shared: number }> {
    const { redis } = this.context
    const [members, shared] = await again(() =>
      Promise.all([
        redis.read(keys.members, ['SCARD', keys.members]),
        redis.read(keys.state, ['HGET', keys.state, 'shared']),
      ]),
    )
    return { members: Number(members), shared: Number(shared) }
  }

  private async switchOne(): Promise<ReplaceCounts> {
    const { redis, wake, maxLogBytes } = this.context
    const { listId, importId, owner, incarnation } = this.session
    const shard = this.shard(0)
    const { meta, imports } = listKeys(listId)
    const keys = [...shardScriptKeys(shard.keys), shard.keys.old, meta, imports]
    let figures = await this.figures(shard)
    let told = await this.differences.read(figures.members - figures.shared)
    for (let round = 0; round < ROUNDS; round++) {
      const { members, shared } = figures
      const counts = { ...this.sum(), removed: Math.max(0, members - shared) }
      const now = String(this.now())
      const checkpoint = checkpointText(this.advance(counts))
      const who = [String(incarnation), importId, owner, this.generation, now, checkpoint]
      const log = [
        told.entry,
        String(told.sequence),
        String(newMark()),
        String(maxLogBytes),
        wake.channel,
        listId,
      ]
      const args = [...who, String(members), String(shared), ...log]
      const reply = await again(() => redis.run(SWITCH_ONE, keys, args))
      const [outcome, ...rest] = reply as [string, ...number[]]
      if (outcome === 'switched') return counts
      if (outcome === 'changed') figures = { members: rest[0]!, shared: rest[1]! }
      else if (outcome === 'late') told = await this.differences.read(members - shared)
      else throw new ImportStopped(outcome === 'list-not-found' ? outcome : 'lost')
    }
    throw neverReady(listId)
  }

  private async switchAll(): Promise<ReplaceCounts> {
    const { redis, shards, wake } = this.context
    const { listId, importId, owner, incarnation } = this.session
    const figures = await Promise.all(shards.all(this.list).map((shard) => this.figures(shard)))
    const removed = figures.reduce((sum, { members, shared }) => sum + members - shared, 0)
    const counts = { ...this.sum(), removed: Math.max(0, removed) }
    const now = this.now()
    const { meta, imports } = listKeys(listId)
    const checkpoint = checkpointText(this.advance(counts))
    const who = [String(incarnation), importId, owner, this.generation, String(now), checkpoint]
    const args = [...who, wake.channel, listId]
    const outcome = await again(() => redis.run(SWITCH_META, [meta, imports], args))
    if (outcome !== 'switched') throw new ImportStopped(outcome as 'lost')
    const list = { ...this.list, generation: Number(this.generation) }
    // The list has switched. If one of these fails, the next process that uses the shard does it.
    await Promise.allSettled(
      shards.all(list).map(({ shard }) => again(() => activate(this.context, list, shard, now))),
    )
    return counts
  }
}

function mustBe(meta: Meta | undefined, incarnation: number): Meta {
  if (meta?.incarnation === incarnation && meta.deleted === undefined) return meta
  throw new ImportStopped('list-not-found')
}
