import { type OpenedStore, openStore } from '../../src/engines/dynamodb/allowlist/open-store.js'
import type { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { type Core, openCore } from '../../src/engines/dynamodb/core.js'
import { ChangeLog } from '../../src/engines/dynamodb/feed/change-log.js'
import { Freshness } from '../../src/engines/dynamodb/feed/freshness.js'
import type { FeedMessage } from '../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../src/engines/dynamodb/feed/sequencer.js'
import { connectStreams, StreamReader } from '../../src/engines/dynamodb/feed/stream-reader.js'
import type { StreamRecord } from '../../src/engines/dynamodb/feed/stream-records.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { describeTable } from '../../src/engines/dynamodb/tables/table-state.js'
import type { TableNames } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { isReset, readEntry } from '../../src/guards/allowlist/changes/entry.js'
import type { ListRef, LogPosition, Position } from '../../src/guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../src/guards/allowlist/customer-key.js'
import { CREDENTIALS, type DynamoServer, PATIENCE, REGION } from './dynamodb-server.js'

/** Reads the streams of both tables by itself, from their beginning, each record once. */
export class StreamDrain {
  private readonly iterators = new Map<string, string | undefined>()
  private readonly readers: Promise<StreamReader[]>
  private running: Promise<unknown> = Promise.resolve()
  readonly streams

  constructor(
    endpoint: string,
    client: DynamoClient,
    tables: TableNames,
    private readonly take: (records: StreamRecord[]) => Promise<unknown>,
  ) {
    this.streams = connectStreams({ region: REGION, endpoint, credentials: CREDENTIALS })
    this.readers = Promise.all(
      (['allowlists', 'giant'] as const).map(async (role) => {
        const { streamArn } = await describeTable(client.sdk, role, tables[role])
        return new StreamReader(this.streams, streamArn!, role)
      }),
    )
  }

  /** Settles when everything that was written before is taken; says how many records there were. */
  drain(): Promise<number> {
    const drained = this.running.then(() => this.drainNow())
    this.running = drained.catch(() => {})
    return drained
  }

  private async drainNow(): Promise<number> {
    let taken = 0
    for (const reader of await this.readers) {
      const shards = await reader.shards()
      if (shards === 'gone') throw new Error('the stream is gone')
      for (const { id } of shards) taken += await this.drainShard(reader, id)
    }
    return taken
  }

  private async drainShard(reader: StreamReader, shardId: string): Promise<number> {
    const name = `${reader.label}/${shardId}`
    if (!this.iterators.has(name)) this.iterators.set(name, await reader.iterator(shardId, undefined))
    let taken = 0
    for (;;) {
      const iterator = this.iterators.get(name)
      if (iterator === undefined) return taken
      const part = await reader.records(iterator)
      if (typeof part === 'string') throw new Error(`the stream cannot be read: ${part}`)
      if (part.records.length > 0) await this.take(part.records)
      taken += part.records.length
      this.iterators.set(name, part.next)
      if (part.lastSequence === undefined) return taken
    }
  }
}

export interface FeedScene {
  tables: TableNames
  url: DynamodbUrl
  store: OpenedStore
  core: Core
  log: ChangeLog
  sequencer: Sequencer
  /** Records not yet given to the sequencer. */
  records(): Promise<StreamRecord[]>
  /** Has everything sequenced that was written before. */
  drain(): Promise<void>
  messages: FeedMessage[]
  close(): void
}

/** Tables, the engine without bulk work, and a sequencer that works only when it is told to. */
export async function openFeed(server: DynamoServer, given?: { now?: () => number }): Promise<FeedScene> {
  const now = given?.now ?? Date.now
  const tables = server.names()
  await createTables(server.client().sdk, tables, ['allowlists', 'giant', 'idempotency', 'guards'])
  const url = parseStoreUrl(server.url(tables)) as DynamodbUrl
  const store = await openStore(url, { ...PATIENCE, credentials: CREDENTIALS })
  const { client, applied } = store
  const messages: FeedMessage[] = []
  const sink = { publish: async (some: readonly FeedMessage[]) => void messages.push(...some) }
  const sequencer = new Sequencer({ client, tables, sink, now })
  let waiting: StreamRecord[] = []
  const pump = new StreamDrain(server.endpoint, client, tables, async (records) => {
    waiting.push(...records)
  })
  const records = async (): Promise<StreamRecord[]> => {
    await pump.drain()
    return waiting.splice(0)
  }
  const freshness = new Freshness({ client, tables, now, probeIntervalMs: 0 })
  return {
    tables,
    url,
    store,
    core: openCore(store),
    log: new ChangeLog({ client, table: tables.allowlists, freshness, applied }),
    sequencer,
    messages,
    records,
    async drain() {
      const failures = await sequencer.process(await records())
      if (failures.length > 0) throw failures[0]!.error
    },
    close() {
      waiting = []
      pump.streams.destroy()
      store.close()
    },
  }
}

/** The log behind a position, in words: `+id`, `-id` or `reset`. */
export async function wordsOf(log: ChangeLog, list: ListRef, after: Position): Promise<string[][]> {
  const words: string[][] = []
  const position: LogPosition[] = [...after]
  for (;;) {
    const part = await log.read(list, position)
    if (part === 'gap') throw new Error('the log has a gap')
    for (const { log: n, sequence, mark, bytes } of part.entries) {
      position[n] = { sequence, mark }
      words.push(isReset(bytes) ? ['reset'] : changesOf(bytes))
    }
    if (!part.more) return words
  }
}

function changesOf(bytes: Uint8Array): string[] {
  const words: string[] = []
  readEntry(bytes, {
    added: (key, start, end) => words.push(`+${readCustomerKey(key, start, end)}`),
    removed: (key, start, end) => words.push(`-${readCustomerKey(key, start, end)}`),
  })
  return words
}

export const BEGINNING: Position = [{ sequence: 0, mark: 0 }]
