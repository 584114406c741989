import { after, describe, it } from 'node:test'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { limitSuites, register } from '../../src/conformance/index.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import type { DynamoOptions } from '../../src/engines/dynamodb/client/client.js'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { ServerClock } from '../../src/engines/dynamodb/client/server-clock.js'
import { type LimitClock, type OpenLimits, openLimits } from '../../src/engines/dynamodb/rate-limit/index.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import type { LimitEngine } from '../../src/rate-limit/port.js'
import { CREDENTIALS, type DynamoServer, type Emulator, REGION, startDynamo } from './dynamodb-server.js'

export interface LimitsOptions {
  clock?: LimitClock
  endpoint?: string
  /** The clock of the process. */
  now?: () => number
  client?: Partial<DynamoOptions>
}

export interface OpenedLimits extends OpenLimits {
  counts: CapacityCounts
}

/** Rate limits on a table of their own: without the tables of lists, which they do not need. */
export class LimitsServer {
  constructor(readonly server: DynamoServer) {}

  async table(): Promise<string> {
    const names = this.server.names()
    await createTables(this.server.client().sdk, names, ['guards'])
    return (parseStoreUrl(this.server.url(names)) as DynamodbUrl).tables.guards
  }

  open(table: string, options: LimitsOptions = {}): OpenedLimits {
    const { clock = 'caller', now, endpoint = this.server.endpoint } = options
    const counts = new CapacityCounts()
    const serverClock = new ServerClock(now)
    const client = new DynamoClient({
      ...{ region: REGION, endpoint, credentials: CREDENTIALS, counter: counts, serverClock },
      ...options.client,
    })
    const limits = openLimits({ client, table, timeoutMs: 10_000, clock, server: serverClock })
    let isClosed = false
    const close = async () => {
      if (isClosed) return
      isClosed = true
      await limits.close()
      client.close()
    }
    return { ...limits, counts, close }
  }
}

const PREPARED = 6

/** Registers the suites of rate limits on one emulator, by the time that the cases give. */
export async function limitConformanceOn(emulator: Emulator): Promise<void> {
  const limits = new LimitsServer(await startDynamo(emulator))
  // An emulator takes its time to make a table: the next ones are made while a case runs.
  const tables: Promise<string>[] = []
  const prepare = () => {
    const table = limits.table()
    table.catch(() => {})
    tables.push(table)
  }
  while (tables.length < PREPARED) prepare()

  async function openPair<Port>(port: (engine: LimitEngine) => Port) {
    prepare()
    const table = await tables.shift()!
    const engines = [limits.open(table), limits.open(table)] as const
    return {
      one: port(engines[0]),
      two: port(engines[1]),
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  const runner = { describe, it, after }
  for (const suite of limitSuites.counters)
    register(runner, emulator, suite, () => openPair(({ counters }) => counters))
  for (const suite of limitSuites.configs)
    register(runner, emulator, suite, () => openPair(({ configs }) => configs))
  for (const suite of limitSuites.usage)
    register(runner, emulator, suite, () => openPair(({ usage }) => usage))
}
