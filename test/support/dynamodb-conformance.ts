import { after, describe, it } from 'node:test'
import type { AllowlistEngine } from '../../src/allowlist/port.js'
import type { ChangeFeed } from '../../src/changes/port.js'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { accessSuites, allowlistSuites, idempotencySuites, register } from '../../src/conformance/index.js'
import type { FeedMessage } from '../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../src/engines/dynamodb/feed/sequencer.js'
import { type DynamodbEngine, type DynamodbOptions, openDynamodb } from '../../src/engines/dynamodb/index.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import type { TableNames } from '../../src/engines/dynamodb/tables/tables.js'
import { StreamDrain } from './dynamodb-feed.js'
import { CREDENTIALS, type DynamoServer, type Emulator, startDynamo } from './dynamodb-server.js'

const PREPARED = 8
/** The logs are as complete as the drain makes them: nothing else writes here. */
const OPTIONS: DynamodbOptions = { credentials: CREDENTIALS, probeIntervalMs: 0 }

/** Runs the suites whose port is named, on one emulator. */
export async function conform(emulator: Emulator, wanted: RegExp): Promise<void> {
  const server = await startDynamo(emulator)
  const tables = new PreparedTables(server)
  const runner = { describe, it, after }
  for (const suite of allowlistSuites.filter(({ port }) => wanted.test(port))) {
    const open = suite.port === 'allowlist changes' ? openFollowedPair : openPair
    register(runner, emulator, suite, async () => open(server, await tables.take()))
  }
  for (const suite of idempotencySuites.filter(({ port }) => wanted.test(port))) {
    register(runner, emulator, suite, async () => {
      const engines = await openTwo(server, await tables.take())
      return { one: engines[0].idempotency, two: engines[1].idempotency, close: () => closeBoth(engines) }
    })
  }
  for (const suite of accessSuites.filter(({ port }) => wanted.test(port))) {
    register(runner, emulator, suite, async () => {
      const engines = await openTwo(server, await tables.take())
      return { one: engines[0].keys, two: engines[1].keys, close: () => closeBoth(engines) }
    })
  }
}

/** A case needs empty tables, and an emulator takes its time to make them: they are made while another case runs. */
class PreparedTables {
  private readonly next: Promise<TableNames>[] = []

  constructor(private readonly server: DynamoServer) {
    while (this.next.length < PREPARED) this.prepare()
  }

  take(): Promise<TableNames> {
    this.prepare()
    return this.next.shift()!
  }

  private prepare(): void {
    const names = this.make()
    // It may fail after the last case, when the server is gone.
    names.catch(() => {})
    this.next.push(names)
  }

  private async make(): Promise<TableNames> {
    const names = this.server.names()
    await createTables(this.server.client().sdk, names, ['allowlists', 'giant', 'idempotency', 'guards'])
    return names
  }
}

type Engines = readonly [DynamodbEngine, DynamodbEngine]

async function openTwo(server: DynamoServer, names: TableNames): Promise<Engines> {
  const url = parseStoreUrl(server.url(names)) as DynamodbUrl
  return [await openDynamodb(url, OPTIONS), await openDynamodb(url, OPTIONS)]
}

async function closeBoth(engines: Engines): Promise<void> {
  for (const engine of engines) await engine.close()
}

async function openPair(server: DynamoServer, names: TableNames) {
  const engines = await openTwo(server, names)
  const [one, two] = engines.map(({ allowlists }) => allowlists)
  return { one: one!, two: two!, close: () => closeBoth(engines) }
}

/** With a relay that is never behind: whoever has written finds it in the log, and each write in an entry of its own. */
async function openFollowedPair(server: DynamoServer, names: TableNames) {
  const engines = await openTwo(server, names)
  const relay = new QuickRelay(server, names)
  const [one, two] = engines.map(({ allowlists }) => relay.follow(allowlists))
  return {
    one: one!,
    two: two!,
    async close() {
      relay.close()
      await closeBoth(engines)
    },
  }
}

class QuickRelay {
  private readonly pump: StreamDrain
  private readonly wakes = new Set<(listId?: string) => void>()
  private waiting: Promise<unknown> | undefined

  constructor(server: DynamoServer, tables: TableNames) {
    const client = server.client()
    const publish = async (messages: readonly FeedMessage[]): Promise<void> => {
      for (const { allowlistId } of messages) for (const wake of this.wakes) wake(allowlistId)
    }
    const sequencer = new Sequencer({ client, tables, sink: { publish }, now: Date.now })
    this.pump = new StreamDrain(server.endpoint, client, tables, async (records) => {
      const [failure] = await sequencer.process(records)
      if (failure !== undefined) throw failure.error
    })
  }

  follow(engine: AllowlistEngine): AllowlistEngine {
    const { changes: log, members, bulk, upkeep } = engine
    const changes: ChangeFeed = {
      isImmediate: log.isImmediate,
      position: (list) => log.position(list),
      read: (list, position) => log.read(list, position),
      stirred: () => log.stirred(),
      watch: (wake) => {
        this.wakes.add(wake)
        return { stop: () => void this.wakes.delete(wake) }
      },
    }
    return {
      ...engine,
      members: this.afterEach(members),
      bulk: this.afterEach(bulk),
      upkeep: this.afterEach(upkeep),
      changes,
    }
  }

  close(): void {
    this.pump.streams.destroy()
  }

  private afterEach<T extends object>(store: T): T {
    return new Proxy(store, {
      get: (target, name) => {
        const verb = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>
        return async (...given: unknown[]) => {
          const answer = await verb.apply(target, given)
          await this.drained()
          return answer
        }
      },
    })
  }

  /** One that has not begun serves all who ask for it. */
  private drained(): Promise<unknown> {
    this.waiting ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.waiting = undefined
      return this.pump.drain()
    })
    return this.waiting
  }
}
