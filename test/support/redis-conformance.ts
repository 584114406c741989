import { after, before, describe, it } from 'node:test'
import { accessSuites, allowlistSuites, register } from '../../src/conformance/index.js'
import { openRedis, type RedisEngine, type RedisEngineOptions } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { RedisServers } from './redis/index.js'

/** Registers every suite on servers that are started once; each case finds them empty. */
export function conformanceOn(
  name: string,
  start: () => Promise<RedisServers>,
  options: RedisEngineOptions = {},
): void {
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

  async function openPair<Port>(port: (engine: RedisEngine) => Port) {
    await flusher.readEverywhere(['FLUSHALL'])
    const engines = await Promise.all([openRedis(servers.url, options), openRedis(servers.url, options)])
    return {
      one: port(engines[0]),
      two: port(engines[1]),
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  const runner = { describe, it, after }
  for (const suite of allowlistSuites) {
    register(runner, name, suite, () => openPair((engine) => engine.allowlists))
  }
  for (const suite of accessSuites) register(runner, name, suite, () => openPair((engine) => engine.keys))
}
