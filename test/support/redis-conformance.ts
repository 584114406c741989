import { after, before, describe, it } from 'node:test'
import {
  accessSuites,
  allowlistSuites,
  auditSuites,
  cacheSuites,
  codeSuites,
  fleetSuites,
  idempotencySuites,
  limitSuites,
  lockSuites,
  register,
  type Suite,
  sessionSuites,
  tokenSuites,
} from '../../src/conformance/index.js'
import { openRedis, type RedisEngine } from '../../src/engines/redis/index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import type { RedisEngineOptions } from '../../src/engines/redis/options.js'
import { PATIENT_REDIS } from './patient.js'
import type { RedisServers } from './redis/index.js'
import { lockScene } from './redis-lock-scene.js'

type PortOf<Port> = (engine: RedisEngine, redis: Redis) => Port

/** On servers that are started once; each case finds them empty, and is opened by two engines. */
function suitesOn(name: string, start: () => Promise<RedisServers>, options: RedisEngineOptions) {
  let servers: RedisServers
  let redis: Redis
  before(async () => {
    servers = await start()
    await servers.calm()
    redis = await connect(servers.url, PATIENT_REDIS)
  })
  after(async () => {
    await redis.close()
    await servers.stop()
  })

  async function openPair<Port>(port: PortOf<Port>) {
    await redis.readEverywhere(['FLUSHALL'])
    const engines = await Promise.all(
      [1, 2].map(() => openRedis(servers.url, { ...PATIENT_REDIS, ...options })),
    )
    return {
      one: port(engines[0]!, redis),
      two: port(engines[1]!, redis),
      async close() {
        for (const engine of engines) await engine.close()
      },
    }
  }

  return <Port>(suites: readonly Suite<Port>[], port: PortOf<Port>): void => {
    for (const suite of suites) register({ describe, it, after }, name, suite, () => openPair(port))
  }
}

export function conformanceOn(
  name: string,
  start: () => Promise<RedisServers>,
  options: RedisEngineOptions = {},
): void {
  const on = suitesOn(name, start, options)
  on(allowlistSuites, ({ allowlists }) => allowlists)
  on(accessSuites, ({ keys }) => keys)
  on(sessionSuites, ({ sessions }) => sessions)
}

/** Those of everything else, by the time that the cases give. */
export function guardConformanceOn(name: string, start: () => Promise<RedisServers>): void {
  const on = suitesOn(name, start, { limitClock: 'caller', idempotencyClock: 'caller' })
  on(limitSuites.counters, ({ limits }) => limits.counters)
  on(limitSuites.configs, ({ limits }) => limits.configs)
  on(limitSuites.usage, ({ limits }) => limits.usage)
  on(limitSuites.outages, ({ limits }) => limits)
  on(idempotencySuites, ({ idempotency }) => idempotency)
  on(codeSuites, ({ codes }) => codes)
  on(tokenSuites, ({ tokens }) => tokens)
  on(auditSuites, ({ audit }) => audit)
  on(fleetSuites, ({ fleet }) => fleet!)
  on(lockSuites, ({ locks }, redis) => lockScene(locks, redis))
  on(cacheSuites, ({ cache }) => cache)
}
