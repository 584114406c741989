import { after, describe, it } from 'node:test'
import { limitSuites, register } from '../../src/conformance/index.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import type { DynamoOptions } from '../../src/engines/dynamodb/client/options.js'
import { ServerClock } from '../../src/engines/dynamodb/client/server-clock.js'
import type { LimitSplit } from '../../src/engines/dynamodb/defaults.js'
import { type LimitClock, type OpenLimits, openLimits } from '../../src/engines/dynamodb/rate-limit/index.js'
import type { LimitEngine } from '../../src/guards/rate-limit/port.js'
import type { Choose } from './dynamodb-conformance.js'
import { CREDENTIALS, type DynamoServer, PATIENCE, REGION } from './dynamodb-server.js'

interface LimitsOptions {
  clock?: LimitClock
  endpoint?: string
  /** The clock of the process. */
  now?: () => number
  splits?: readonly LimitSplit[]
  client?: Partial<DynamoOptions>
}

interface OpenedLimits extends OpenLimits {
  counts: CapacityCounts
}

/** Rate limits on a table of their own: without the tables of lists, which they do not need. */
export class LimitsServer {
  constructor(readonly server: DynamoServer) {}

  async table(): Promise<string> {
    return (await this.server.emptyTables(['guards'])).guards
  }

  open(table: string, options: LimitsOptions = {}): OpenedLimits {
    const { clock = 'caller', now, splits = [], endpoint = this.server.endpoint } = options
    const counts = new CapacityCounts()
    const serverClock = new ServerClock(now)
    const client = new DynamoClient({
      ...{ ...PATIENCE, region: REGION, endpoint, credentials: CREDENTIALS, counter: counts, serverClock },
      ...options.client,
    })
    const limits = openLimits({
      client,
      table,
      timeoutMs: PATIENCE.writeTimeoutMs,
      clock,
      splits,
      server: serverClock,
    })
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

/** Registers the suites of rate limits, by the time that the cases give. */
export function limitConformanceOn(server: DynamoServer, choose: Choose = (suite) => suite): void {
  const limits = new LimitsServer(server)

  async function openPair<Port>(port: (engine: LimitEngine) => Port) {
    const table = await limits.table()
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
    register(runner, server.emulator, choose(suite), () => openPair(({ counters }) => counters))
  for (const suite of limitSuites.configs)
    register(runner, server.emulator, choose(suite), () => openPair(({ configs }) => configs))
  for (const suite of limitSuites.usage)
    register(runner, server.emulator, choose(suite), () => openPair(({ usage }) => usage))
  for (const suite of limitSuites.outages)
    register(runner, server.emulator, choose(suite), () => openPair((limits) => limits))
}
