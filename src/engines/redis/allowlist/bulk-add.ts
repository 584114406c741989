import type {
  BatchOutcome,
  BulkStore,
  ImportCheckpoint,
  ImportSession,
  SortedCustomers,
} from '../../../guards/allowlist/port.js'
import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import { readMoved, stillToStore } from './bulk-moved.js'
import { batchKey, Parts, rowsByShard, type ShardRows } from './bulk-rows.js'
import { ALONE, type PartReply, type Sent, sendInOrder } from './bulk-send.js'
import { again, neverReady, ROUNDS, repairShards } from './bulk-shards.js'
import { checkpointText, movedField } from './imports.js'
import { listKeys } from './keys.js'
import type { RedisList } from './meta.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'

const ADD = defineScript('allowlist-import-add', {
  keys: [...SHARD_KEY_TYPES, 'hash'],
  write: true,
  uses: [...SHARD_USES, 'allowlist-import-batch'],
})

const CHECKPOINT = defineScript('allowlist-import-checkpoint', {
  keys: ['hash', 'hash'],
  write: true,
  uses: ['allowlist-import-claim'],
})

interface Batch {
  session: ImportSession
  run: SortedCustomers
  number: number
  key: string
  now: number
}

/** Batches of imports in `add` mode. */
export class BatchAdder {
  /** Numbers the batches of one owner. */
  private number = 0

  constructor(private readonly context: BulkContext) {}

  async add(...[session, run, from, to, advance, now]: Parameters<BulkStore['add']>): Promise<BatchOutcome> {
    const key = from === to ? '-' : batchKey(run, from, to, advance(0, 0))
    const batch: Batch = { session, run, number: ++this.number, key, now }
    const stored = await this.store(batch, from, to)
    if (stored.outcome !== 'stored') return stored
    const { added } = stored
    const unchanged = to - from - added
    const saved = await this.checkpoint(session, advance(added, unchanged), now)
    return saved === 'stored' ? { outcome: 'stored', added, unchanged } : { outcome: saved }
  }

  checkpoint(
    session: ImportSession,
    checkpoint: ImportCheckpoint | undefined,
    now: number,
  ): Promise<'stored' | 'lost' | 'list-not-found'> {
    const { listId, importId, owner, incarnation, leaseMs } = session
    const { meta, imports } = listKeys(listId)
    const text = checkpoint === undefined ? '' : checkpointText(checkpoint)
    const args = [String(incarnation), importId, owner, String(now), String(now + leaseMs), text]
    return again(() => this.context.redis.run(CHECKPOINT, [meta, imports], args)) as Promise<'stored'>
  }

  private async store(
    batch: Batch,
    from: number,
    to: number,
  ): Promise<{ outcome: 'stored'; added: number } | { outcome: 'lost' | 'list-not-found' }> {
    const { redis, catalog } = this.context
    const { listId, importId, incarnation } = batch.session
    const { imports } = listKeys(listId)
    for (let round = 0; round < ROUNDS; round++) {
      const [list, moved] = await again(() =>
        Promise.all([
          catalog.read(listId),
          redis.read(imports, ['HGET', imports, movedField(importId)]) as Promise<string | null>,
        ]),
      )
      if (list?.incarnation !== incarnation) return { outcome: 'list-not-found' }
      const rest = stillToStore(batch.run, from, to, batch.key, readMoved(moved))
      const parts = rowsByShard(batch.run, rest.places, list.shardCount)
      const sent = await Promise.all(parts.map((rows) => this.send(batch, list, rows)))
      const refused = worst(sent)
      if (refused === undefined) return { outcome: 'stored', added: rest.added + sumAdded(sent) }
      if (refused === 'lost') return { outcome: 'lost' }
      await repairShards(this.context, list, refused, round)
    }
    throw neverReady(listId)
  }

  private async send(batch: Batch, list: RedisList, rows: ShardRows): Promise<Sent> {
    const { redis, shards, due, wake, maxLogBytes } = this.context
    const { session, run, number, key, now } = batch
    const keys = shards.keys(list, rows.shard)
    const parts = new Parts(run, rows, session.addedBy)
    const who = [String(session.incarnation), session.importId, session.owner, String(number), key]
    const log = [String(maxLogBytes), wake.channel, list.id]
    return sendInOrder({
      count: parts.count,
      start: 0,
      cut: (start) => parts.cut(start),
      send: async (part) => {
        if (part.firstExpiryAt !== Number.POSITIVE_INFINITY) await due.note(list.id, part.firstExpiryAt, now)
        const place = [String(part.start), String(part.end - part.start), String(now), parts.tail]
        const args = [...who, ...place, String(newMark()), ...log, part.items, ...part.args]
        return (await redis.run(ADD, [...shardScriptKeys(keys), keys.writers], args, ALONE)) as PartReply
      },
    })
  }
}

function worst(sent: readonly Sent[]): 'lost' | 'gone' | 'frozen' | undefined {
  const outcomes = new Set(sent.map(({ outcome }) => outcome))
  return (['lost', 'gone', 'frozen'] as const).find((outcome) => outcomes.has(outcome))
}

const sumAdded = (sent: readonly Sent[]): number =>
  sent.reduce((sum, one) => sum + (one.outcome === 'stored' ? one.added : 0), 0)
