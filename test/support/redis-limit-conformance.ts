import { after, before, describe, it } from 'node:test'
import { limitSuites, register } from '../../src/conformance/index.js'
import { openRedis } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { LimitEngine } from '../../src/rate-limit/port.js'
import type { RedisServers } from './redis/index.js'

/** Registers the suites of rate limits on servers that are started once, by the time that the cases give. */
export function limitConformanceOn(name: string, start: () => Promise<RedisServers>): void {
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

  async function openPair<Port>(port: (engine: LimitEngine) => Port) {
    await flusher.readEverywhere(['FLUSHALL'])
    const open = () => openRedis(servers.url, { limitClock: 'caller' })
    const engines = await Promise.all([open(), open()])
    return {
      one: port(engines[0].limits),
      two: port(engines[1].limits),
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  const runner = { describe, it, after }
  for (const suite of limitSuites.counters)
    register(runner, name, suite, () => openPair(({ counters }) => counters))
  for (const suite of limitSuites.configs)
    register(runner, name, suite, () => openPair(({ configs }) => configs))
  for (const suite of limitSuites.usage) register(runner, name, suite, () => openPair(({ usage }) => usage))
}
