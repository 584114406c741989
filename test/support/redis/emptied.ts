import { after, beforeEach } from 'node:test'
import { type RedisServers, startSingle } from './topologies.js'

/** One server for a test file: before each test it is emptied, and started again where a test has stopped it. */
export async function oneEmptiedServer(): Promise<RedisServers> {
  const redis = await startSingle()
  after(() => redis.stop())
  beforeEach(async () => {
    if (!redis.servers[0]!.alive) await redis.servers[0]!.restart()
    await redis.flush()
  })
  return redis
}
