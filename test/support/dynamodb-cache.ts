import { after, describe, it } from 'node:test'
import type { CacheStore } from '../../src/cache/port.js'
import { parseStoreUrl } from '../../src/config/store-url.js'
import type { DynamodbUrl } from '../../src/config/store-url-dynamodb.js'
import { cacheSuites, register } from '../../src/conformance/index.js'
import { openCache } from '../../src/engines/dynamodb/cache/index.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { ServerClock } from '../../src/engines/dynamodb/client/server-clock.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { CREDENTIALS, type DynamoServer, type Emulator, REGION, startDynamo } from './dynamodb-server.js'

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
    const names = this.server.names()
    await createTables(this.server.client().sdk, names, ['guards'])
    return (parseStoreUrl(this.server.url(names)) as DynamodbUrl).tables.guards
  }

  open(table: string, endpoint = this.server.endpoint): OpenedCache {
    const counts = new CapacityCounts()
    const serverClock = new ServerClock()
    const client = new DynamoClient({
      ...{ region: REGION, endpoint, credentials: CREDENTIALS, counter: counts, serverClock },
    })
    const cache = openCache({ client, table, server: serverClock })
    const close = async () => {
      await cache.close()
      client.close()
    }
    return { cache, counts, client, close }
  }
}

const PREPARED = 6

/** Registers the suites of caches on one emulator. */
export async function cacheConformanceOn(emulator: Emulator): Promise<void> {
  const servers = new CacheServer(await startDynamo(emulator))
  // An emulator takes its time to make a table: the next ones are made while a case runs.
  const tables: Promise<string>[] = []
  const prepare = () => {
    const table = servers.table()
    table.catch(() => {})
    tables.push(table)
  }
  while (tables.length < PREPARED) prepare()

  async function openPair() {
    prepare()
    const table = await tables.shift()!
    const pods = [servers.open(table), servers.open(table)] as const
    return {
      one: pods[0].cache,
      two: pods[1].cache,
      async close() {
        for (const pod of pods) await pod.close()
      },
    }
  }

  for (const suite of cacheSuites) register({ describe, it, after }, emulator, suite, openPair)
}
