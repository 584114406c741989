import { after, describe, it } from 'node:test'
import { cacheSuites, register } from '../../src/conformance/index.js'
import { openCache } from '../../src/engines/dynamodb/cache/index.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { ServerClock } from '../../src/engines/dynamodb/client/server-clock.js'
import type { CacheStore } from '../../src/guards/cache/port.js'
import type { Choose } from './dynamodb-conformance.js'
import { CREDENTIALS, type DynamoServer, PATIENCE, REGION } from './dynamodb-server.js'

export interface OpenedCache {
  cache: CacheStore
  counts: CapacityCounts
  client: DynamoClient
  close(): Promise<void>
}

/** Caches on a table of their own: without the tables of lists, which they do not need. */
export class CacheServer {
  constructor(readonly server: DynamoServer) {}

  async table(): Promise<string> {
    return (await this.server.emptyTables(['guards'])).guards
  }

  open(table: string, endpoint = this.server.endpoint): OpenedCache {
    const counts = new CapacityCounts()
    const serverClock = new ServerClock()
    const client = new DynamoClient({
      ...{ ...PATIENCE, region: REGION, endpoint, credentials: CREDENTIALS, counter: counts, serverClock },
    })
    const cache = openCache({ client, table, server: serverClock })
    const close = async () => {
      await cache.close()
      client.close()
    }
    return { cache, counts, client, close }
  }
}

/** Registers the suites of caches. */
export function cacheConformanceOn(server: DynamoServer, choose: Choose = (suite) => suite): void {
  const servers = new CacheServer(server)

  async function openPair() {
    const table = await servers.table()
    const pods = [servers.open(table), servers.open(table)] as const
    return {
      one: pods[0].cache,
      two: pods[1].cache,
      async close() {
        for (const pod of pods) await pod.close()
      },
    }
  }

  for (const suite of cacheSuites) register({ describe, it, after }, server.emulator, choose(suite), openPair)
}
