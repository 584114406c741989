import { randomUUID } from 'node:crypto'
import { CatracaError } from '../../../core/errors.js'
import { every } from '../../../core/timers.js'
import { text } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { DEAD_KEPT_SECONDS, deadKey, expiresIn } from './feed-items.js'
import type { MessageSink } from './messages.js'
import { RelayLeases, type RelayState, type ShardState } from './relay-leases.js'
import { RelayWorker, type WorkerParts } from './relay-worker.js'
import type { DynamoDBStreamsClient } from './sdk-streams.js'
import { type Failure, Sequencer } from './sequencer.js'
import {
  connectStreams,
  findStream,
  StreamReader,
  type StreamShard,
  type StreamsClientOptions,
} from './stream-reader.js'
import type { StreamTable } from './stream-records.js'

export interface RelayOptions {
  client: DynamoClient
  streams: StreamsClientOptions
  tables: Record<StreamTable, string>
  sink: MessageSink
  now?: () => number
  /** The shards of a relay that has not renewed for this long are taken over. */
  leaseMs?: number
  pollMs?: number
  /** How long to collect changes after some were processed. */
  batchMs?: number
  report?: (message: string, error: unknown) => void
}

const DEFAULT_RELAY = { leaseMs: 10_000, pollMs: 250, batchMs: 0 } as const
/** How often to check whether a table has a new stream. */
const FIND_INTERVAL_MS = 30_000

/**
 * Reads every shard of the streams of both tables, shared with other relays, and passes the records to the sequencer.
 */
export class Relay {
  private readonly streams: DynamoDBStreamsClient
  private readonly readers = new Map<string, StreamReader>()
  private readonly workers = new Map<string, RelayWorker>()
  private readonly leases: RelayLeases
  private readonly parts: Omit<WorkerParts, 'reader'>
  /** By stream: the time up to which the shards of other relays were processed, as of the last check. */
  private elsewhereUntil: Map<string, number> | undefined
  private foundAt = Number.NEGATIVE_INFINITY
  private timer: NodeJS.Timeout | undefined
  private round: Promise<void> | undefined
  private isStopped = false

  constructor(private readonly options: RelayOptions) {
    const { client, tables, sink, now = Date.now, report = () => {} } = options
    const { leaseMs, pollMs, batchMs } = { ...DEFAULT_RELAY, ...options }
    this.streams = connectStreams(options.streams)
    this.leases = new RelayLeases(client, tables.allowlists, randomUUID(), leaseMs, now)
    this.parts = {
      sequencer: new Sequencer({ client, tables, sink, now }),
      leases: this.leases,
      pollMs,
      batchMs,
      now,
      othersUntil: (worker) => this.othersUntil(worker),
      recordDead: (reader, failure) => this.bury(reader, failure),
      report,
    }
  }

  /** Resolves when it has checked all streams once. Throws if there is none. */
  async start(): Promise<void> {
    await this.findStreams()
    if (this.readers.size === 0) {
      throw new CatracaError(
        'STORE_UNUSABLE',
        `${this.options.tables.allowlists} has no stream; "catraca dynamodb create" turns it on`,
      )
    }
    await this.look()
    this.timer = every(() => this.lookAgain(), this.leases.leaseMs / 3)
  }

  /** Number of shards that this relay reads. */
  get shardCount(): number {
    return [...this.workers.values()].filter((worker) => !worker.isOver).length
  }

  async stop(): Promise<void> {
    this.isStopped = true
    clearInterval(this.timer)
    await this.round
    const ended = await Promise.allSettled([...this.workers.values()].map((worker) => worker.stop()))
    const left = await Promise.allSettled([this.leases.leave()])
    for (const end of [...ended, ...left]) {
      if (end.status === 'rejected') this.parts.report('releasing shards failed', end.reason)
    }
    this.streams.destroy()
  }

  private lookAgain(): void {
    this.round ??= this.findStreams()
      .then(() => this.look())
      .catch((error: unknown) => {
        this.parts.report('listing shards failed', error)
      })
      .finally(() => {
        this.round = undefined
      })
  }

  /** A table gets a new stream when its stream is turned off and on. */
  private async findStreams(): Promise<void> {
    const { client, tables } = this.options
    const now = this.parts.now()
    if (now - this.foundAt < FIND_INTERVAL_MS) return
    this.foundAt = now
    for (const table of ['allowlists', 'giant'] as const) {
      const arn = await findStream(client.sdk, tables[table])
      if (arn === undefined || this.readers.has(arn)) continue
      this.readers.set(arn, new StreamReader(this.streams, arn, table))
    }
  }

  /** Renews leases, releases shards above its share, and takes free ones. */
  private async look(): Promise<void> {
    await this.leases.announce()
    const active = [...this.workers.values()].filter((worker) => !worker.isOver)
    await Promise.all(active.map((worker) => worker.renew()))
    const state = await this.leases.state()
    const known = new Map(state.shards.map((shard) => [nameOf(shard.stream, shard.shardId), shard]))
    const open: [StreamReader, StreamShard][] = []
    const free: [StreamReader, StreamShard][] = []
    for (const [arn, reader] of this.readers) {
      const shards = await reader.shards()
      if (shards === 'gone') {
        this.readers.delete(arn)
        continue
      }
      await this.noticeHoles(reader, shards, state)
      for (const shard of shards) {
        const stored = known.get(nameOf(reader.label, shard.id))
        if (stored?.isFinished) continue
        open.push([reader, shard])
        if (this.isFree(reader, shard, shards, known)) free.push([reader, shard])
      }
    }
    const share = Math.ceil(open.length / Math.max(1, state.owners.size))
    await this.giveUp(this.shardCount - share)
    for (const [reader, shard] of free) {
      if (this.shardCount >= share || this.isStopped) break
      await this.take(reader, shard, known.get(nameOf(reader.label, shard.id)))
    }
    this.updateOthersProgress(open, known)
    // Only now: until its children are known, a finished shard counts in their place.
    for (const [name, worker] of this.workers) if (worker.isOver) this.workers.delete(name)
  }

  /** A parent is read to its end before its children, because they continue with the same items. */
  private isFree(
    { label }: StreamReader,
    { id, parentId }: StreamShard,
    shards: StreamShard[],
    known: Map<string, ShardState>,
  ): boolean {
    const stored = known.get(nameOf(label, id))
    if (this.workers.get(nameOf(label, id))?.isOver === false || (stored?.leaseUntil ?? 0) > this.parts.now())
      return false
    const hasParent = parentId !== undefined && shards.some((shard) => shard.id === parentId)
    return !hasParent || known.get(nameOf(label, parentId))?.isFinished === true
  }

  private async take(
    reader: StreamReader,
    { id }: StreamShard,
    stored: ShardState | undefined,
  ): Promise<void> {
    if (!(await this.leases.claim(reader.label, id))) return
    const worker = new RelayWorker({ ...this.parts, reader }, id, stored?.checkpoint)
    this.workers.set(nameOf(reader.label, id), worker)
    // Its children wait for it.
    void worker.done.then(() => this.isStopped || this.lookAgain())
  }

  private async giveUp(count: number): Promise<void> {
    const active = [...this.workers.values()].filter((worker) => !worker.isOver)
    for (const worker of active.slice(0, Math.max(0, count))) await worker.stop()
  }

  /** Records were trimmed unread, or never created while the stream was off. */
  private async noticeHoles(
    reader: StreamReader,
    shards: StreamShard[],
    { shards: known }: RelayState,
  ): Promise<void> {
    const { label, table } = reader
    const ids = new Set(shards.map(({ id }) => id))
    const lost = known.filter(({ stream, shardId, isFinished, leaseUntil }) => {
      return stream === label && !isFinished && leaseUntil < this.parts.now() && !ids.has(shardId)
    })
    const isNew = !known.some(({ stream }) => stream === label)
    const hadAnother = known.some(({ stream }) => stream.startsWith(`${table}@`) && stream !== label)
    if (lost.length === 0 && !(isNew && hadAnother)) return
    this.parts.report(`changes of ${this.options.tables[table]} may be lost: all lists are reset`, undefined)
    await this.parts.sequencer.resetAll(this.parts.now())
    for (const shard of lost) await this.leases.drop(shard)
  }

  /** The time up to which the shards of other relays were processed, as they report it. */
  private updateOthersProgress(shards: [StreamReader, StreamShard][], known: Map<string, ShardState>): void {
    const untilOf = new Map<string, number>()
    for (const [reader, { id }] of shards) {
      const name = nameOf(reader.label, id)
      if (this.workers.has(name)) continue
      const { cleanAt = 0, leaseUntil = 0 } = known.get(name) ?? {}
      // A shard with a lease progresses between two checks; one without does not.
      const until = leaseUntil > this.parts.now() ? cleanAt + this.leases.leaseMs : cleanAt
      untilOf.set(reader.label, Math.min(untilOf.get(reader.label) ?? Number.POSITIVE_INFINITY, until))
    }
    this.elsewhereUntil = untilOf
  }

  /** A probe comes through one shard, but must be valid for all. */
  private othersUntil(asking: RelayWorker): number {
    if (this.elsewhereUntil === undefined) return Number.NEGATIVE_INFINITY
    let until = this.elsewhereUntil.get(asking.stream) ?? Number.POSITIVE_INFINITY
    for (const worker of this.workers.values()) {
      if (worker !== asking && worker.stream === asking.stream) until = Math.min(until, worker.cleanAt)
    }
    return until
  }

  private async bury({ label }: StreamReader, { sequence, listId, error }: Failure): Promise<void> {
    const now = this.parts.now()
    const Item = {
      ...deadKey(label, sequence),
      listId: text(listId ?? ''),
      reason: text(error instanceof Error ? error.message : String(error)),
      at: text(new Date(now).toISOString()),
      expiresAt: expiresIn(DEAD_KEPT_SECONDS, now),
    }
    await this.options.client.putItem('relay.bury', { TableName: this.options.tables.allowlists, Item })
  }
}

const nameOf = (stream: string, shardId: string): string => `${stream}#${shardId}`
