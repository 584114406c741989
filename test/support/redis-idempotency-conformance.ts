import { after, before, describe, it } from 'node:test'
import { idempotencySuites, register } from '../../src/conformance/index.js'
import { openRedis } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { RedisServers } from './redis/index.js'

/** Registers the suites of idempotency on servers that are started once, by the time that the cases give. */
export function idempotencyConformanceOn(name: string, start: () => Promise<RedisServers>): void {
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
    const open = () => openRedis(servers.url, { idempotencyClock: 'caller' })
    const engines = await Promise.all([open(), open()])
    return {
      one: engines[0].idempotency,
      two: engines[1].idempotency,
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  for (const suite of idempotencySuites) register({ describe, it, after }, name, suite, openPair)
}
