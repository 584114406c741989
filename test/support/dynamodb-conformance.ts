import { after, describe, it } from 'node:test'
import type { AllowlistEngine } from '../../src/allowlist/port.js'
import type { ChangeFeed } from '../../src/changes/port.js'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { accessSuites, allowlistSuites, register } from '../../src/conformance/index.js'
import { createTables } from '../../src/engines/dynamodb/create-tables.js'
import { type DynamodbEngine, type DynamodbOptions, openDynamodb } from '../../src/engines/dynamodb/index.js'
import type { FeedMessage } from '../../src/engines/dynamodb/messages.js'
import { Sequencer } from '../../src/engines/dynamodb/sequencer.js'
import type { TableNames } from '../../src/engines/dynamodb/tables.js'
import { StreamDrain } from './dynamodb-feed.js'
import { CREDENTIALS, type DynamoServer, type Emulator, startDynamo } from './dynamodb-server.js'

const DRAIN_EVERY_MS = 20
/** The logs are as complete as the drain makes them: nothing else writes here. */
const OPTIONS: DynamodbOptions = { credentials: CREDENTIALS, probeIntervalMs: 0 }

/** Runs the suites whose port is named, on one emulator. */
export async function conform(emulator: Emulator, wanted: RegExp): Promise<void> {
  const server = await startDynamo(emulator)
  const tables = new PreparedTables(server)
  const runner = { describe, it, after }
  for (const suite of allowlistSuites.filter(({ port }) => wanted.test(port))) {
    register(runner, emulator, suite, async () => openFollowedPair(server, await tables.take()))
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
  private next: Promise<TableNames>

  constructor(private readonly server: DynamoServer) {
    this.next = this.make()
  }

  async take(): Promise<TableNames> {
    const names = await this.next
    this.next = this.make()
    // It may fail after the last case, when the server is gone.
    this.next.catch(() => {})
    return names
  }

  private async make(): Promise<TableNames> {
    const names = this.server.names()
    await createTables(this.server.client().sdk, names, ['allowlists', 'giant'])
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

async function openFollowedPair(server: DynamoServer, names: TableNames) {
  const engines = await openTwo(server, names)
  const client = server.client()
  const wakes = new Set<(listId?: string) => void>()
  const sink = {
    async publish(messages: readonly FeedMessage[]) {
      for (const { allowlistId } of messages) for (const wake of wakes) wake(allowlistId)
    },
  }
  const sequencer = new Sequencer({ client, tables: names, sink, now: Date.now })
  const pump = new StreamDrain(server.endpoint, client, names, async (records) => {
    const [failure] = await sequencer.process(records)
    if (failure !== undefined) throw failure.error
  })
  const [one, two] = engines.map(({ allowlists }) => followed(allowlists, pump, wakes))
  return {
    one: one!,
    two: two!,
    async close() {
      pump.streams.destroy()
      await closeBoth(engines)
    },
  }
}

/** With logs that are complete whenever they are asked: elsewhere a relay, or the Lambda, is a moment behind. */
function followed(
  engine: AllowlistEngine,
  pump: StreamDrain,
  wakes: Set<(listId?: string) => void>,
): AllowlistEngine {
  const { changes: log } = engine
  const changes: ChangeFeed = {
    isImmediate: log.isImmediate,
    async position(list) {
      await pump.drain()
      return log.position(list)
    },
    async read(list, position) {
      await pump.drain()
      return log.read(list, position)
    },
    stirred: () => log.stirred(),
    watch(wake) {
      wakes.add(wake)
      const timer = setInterval(() => void pump.drain().catch(() => {}), DRAIN_EVERY_MS)
      return {
        stop() {
          clearInterval(timer)
          wakes.delete(wake)
        },
      }
    },
  }
  return { ...engine, changes }
}
