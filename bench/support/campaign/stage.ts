import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeTables } from '../../../test/support/dynamodb-engine.js'
import { type FaultProxy, startFaultProxy } from '../../../test/support/dynamodb-faults.js'
import { type DynamoServer, startDynamo } from '../../../test/support/dynamodb-server.js'
import type { RedisServers } from '../../../test/support/redis/index.js'
import { startSentinel, startSingle } from '../../../test/support/redis/index.js'
import { type PodProxy, startProxy } from './proxy.js'

export const ENGINES = ['embedded', 'redis', 'sentinel', 'dynamodb'] as const
export type EngineName = (typeof ENGINES)[number]

/** The store of a campaign, and the ways of the pods to it. */
export interface Stage {
  engine: EngineName
  /** For the campaign itself: past all proxies. */
  store: string
  /** For each pod. */
  stores: string[]
  proxies: PodProxy[]
  redis?: RedisServers
  dynamo?: { server: DynamoServer; faults: FaultProxy }
  close(): Promise<void>
}

/** Nothing acknowledged is lost by a kill, so that every loss is a defect. */
const DURABLE = [
  ['appendonly', 'yes'],
  ['appendfsync', 'always'],
  ['maxmemory-policy', 'noeviction'],
] as const

export async function openStage(engine: EngineName, pods: number): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-campaign-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  if (engine === 'embedded') {
    const store = `embedded:${join(directory, 'data')}`
    const stores = new Array<string>(pods).fill(store)
    return { engine, store, stores, proxies: [], close: async () => remove() }
  }
  if (engine === 'dynamodb') return dynamoStage(pods, remove)
  if (engine === 'sentinel') {
    const redis = await startSentinel()
    const stores = new Array<string>(pods).fill(redis.storeUrl)
    return { engine, store: redis.storeUrl, stores, proxies: [], redis, close: () => redis.stop() }
  }
  const redis = await startSingle({ settings: DURABLE })
  const { port } = redis.servers[0]!
  const proxies = await Promise.all(Array.from({ length: pods }, () => startProxy(port)))
  const stores = proxies.map((proxy) => `redis://127.0.0.1:${proxy.port}/0`)
  return {
    ...{ engine, store: redis.storeUrl, stores, proxies, redis },
    async close() {
      for (const proxy of proxies) await proxy.close()
      await redis.stop()
      remove()
    },
  }
}

async function dynamoStage(pods: number, remove: () => void): Promise<Stage> {
  const server = await startDynamo()
  const { names } = await makeTables(server)
  const faults = await startFaultProxy(server.endpoint)
  const target = Number(new URL(faults.endpoint).port)
  const proxies = await Promise.all(Array.from({ length: pods }, () => startProxy(target)))
  const urlOf = (endpoint: string) =>
    server.url(names).replace(encodeURIComponent(server.endpoint), encodeURIComponent(endpoint))
  return {
    engine: 'dynamodb',
    store: server.url(names),
    stores: proxies.map(({ port }) => urlOf(`http://127.0.0.1:${port}`)),
    proxies,
    dynamo: { server, faults },
    async close() {
      for (const proxy of proxies) await proxy.close()
      await faults.close()
      await server.stop()
      remove()
    },
  }
}
