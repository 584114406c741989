import { after, describe, it } from 'node:test'
import { changeSuite, changeSuiteOf } from '../../src/conformance/allowlist/changes.js'
import {
  accessSuites,
  allowlistSuites,
  idempotencySuites,
  register,
  type Suite,
} from '../../src/conformance/index.js'
import type { FeedMessage } from '../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../src/engines/dynamodb/feed/sequencer.js'
import { type DynamodbEngine, openDynamodb } from '../../src/engines/dynamodb/index.js'
import type { DynamodbOptions } from '../../src/engines/dynamodb/options.js'
import type { TableNames } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import type { ChangeFeed } from '../../src/guards/allowlist/changes/port.js'
import type { AllowlistEngine } from '../../src/guards/allowlist/port.js'
import { StreamDrain } from './dynamodb-feed.js'
import { CREDENTIALS, type DynamoServer, PATIENCE } from './dynamodb-server.js'

/** More customers than are taken at once, and more changes than a part of a stream has. */
const MAX_DIFFERENCES = 2000
/** The logs are as complete as the drain makes them: nothing else writes here. */
const OPTIONS: DynamodbOptions = {
  ...PATIENCE,
  credentials: CREDENTIALS,
  probeIntervalMs: 0,
  checkTables: false,
  maxDifferences: MAX_DIFFERENCES,
}
const LIST_SUITES = allowlistSuites.map((suite) =>
  suite === changeSuite ? changeSuiteOf({ largeReplace: MAX_DIFFERENCES + 1 }) : suite,
)
const LISTS = ['allowlists', 'giant'] as const

/** Which cases of a suite are run; all unless told otherwise. */
export type Choose = <Port>(suite: Suite<Port>) => Suite<Port>

/** Runs the suites of lists, keys and idempotency whose port is named. Every case has tables of its own. */
export async function conform(
  server: DynamoServer,
  wanted: RegExp,
  choose: Choose = (suite) => suite,
): Promise<void> {
  const runner = { describe, it, after }
  const { emulator } = server
  for (const suite of LIST_SUITES.filter(({ port }) => wanted.test(port))) {
    const isFollowed = suite.port === 'allowlist changes'
    const open = isFollowed ? openFollowedPair : openPair
    register(runner, emulator, choose(suite), async () =>
      open(server, await server.emptyTables(LISTS, { streams: isFollowed })),
    )
  }
  for (const suite of accessSuites.filter(({ port }) => wanted.test(port))) {
    register(runner, emulator, choose(suite), async () => {
      const engines = await openTwo(server, await server.emptyTables(LISTS))
      return { one: engines[0].keys, two: engines[1].keys, close: () => closeBoth(engines) }
    })
  }
  const records = idempotencySuites.filter(({ port }) => wanted.test(port))
  // Opening looks at lists, which these cases do not touch: all share them.
  const shared = records.length > 0 ? await server.emptyTables(LISTS) : server.names()
  for (const suite of records) {
    register(runner, emulator, choose(suite), async () => {
      const { idempotency } = await server.emptyTables(['idempotency'])
      const engines = await openTwo(server, { ...shared, idempotency })
      return { one: engines[0].idempotency, two: engines[1].idempotency, close: () => closeBoth(engines) }
    })
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
      hasChanges: () => log.hasChanges(),
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
