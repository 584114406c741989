import { after, before, describe, it } from 'node:test'
import { cacheSuites, register } from '../../src/conformance/index.js'
import { openRedis } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { RedisServers } from './redis/index.js'

/** Registers the suites of caches on servers that are started once; each case finds them empty. */
export function cacheConformanceOn(name: string, start: () => Promise<RedisServers>): void {
  let servers: RedisServers
  let flusher: Redis
  before(async () => {
    servers = await start()
    flusher = await connect(servers.url)
  })
  after(async () => {
    await flusher.close()
    await servers.stop()
  })

  async function openPair() {
    await flusher.readEverywhere(['FLUSHALL'])
    const engines = await Promise.all([openRedis(servers.url), openRedis(servers.url)])
    return {
      one: engines[0].cache,
      two: engines[1].cache,
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  for (const suite of cacheSuites) register({ describe, it, after }, name, suite, openPair)
}
