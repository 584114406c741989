import { after, before, describe, it } from 'node:test'
import { type LockScene, lockSuites, register } from '../../src/conformance/index.js'
import { openRedis } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import { assembleScript } from '../../src/engines/redis/link/script.js'
import { fenceKey, lockKey, waitingKey } from '../../src/engines/redis/lock/keys.js'
import type { LockStore } from '../../src/lock/port.js'
import type { RedisServers } from './redis/index.js'

/** Nobody can move the clock of a server; what its keys have left to live can be moved. */
const AGE = assembleScript('age', { keys: 1, write: true }, () => {
  return `return function(keys, args)
    local left = redis.call('PTTL', keys[1])
    if left >= 0 then redis.call('PEXPIRE', keys[1], left - args[1]) end
  end`
})

async function age(redis: Redis, ms: number): Promise<void> {
  const found = await redis.readEverywhere(['KEYS', '*'])
  const keys = [...found.values()].flatMap((names) => names as string[])
  await Promise.all(keys.map((key) => redis.run(AGE, [key], [String(ms)])))
}

async function forget(redis: Redis, name: string): Promise<void> {
  const key = lockKey(name)
  await redis.write(key, ['DEL', key, fenceKey(key), waitingKey(key)])
}

/** Registers the suites of locks on servers that are started once. */
export function lockConformanceOn(name: string, start: () => Promise<RedisServers>): void {
  let servers: RedisServers
  let redis: Redis
  before(async () => {
    servers = await start()
    redis = await connect(servers.url)
  })
  after(async () => {
    await redis.close()
    await servers.stop()
  })

  async function openPair() {
    await redis.readEverywhere(['FLUSHALL'])
    const engines = await Promise.all([openRedis(servers.url), openRedis(servers.url)])
    const sceneOf = (locks: LockStore): LockScene => ({
      locks,
      now: Date.now,
      elapse: (ms) => age(redis, ms),
      lose: (lock) => forget(redis, lock),
    })
    return {
      one: sceneOf(engines[0].locks),
      two: sceneOf(engines[1].locks),
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  for (const suite of lockSuites) register({ describe, it, after }, name, suite, openPair)
}
