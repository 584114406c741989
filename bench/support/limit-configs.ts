import { ManualClock } from '../../src/core/clock.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { ServerClock } from '../../src/engines/dynamodb/client/server-clock.js'
import { openLimits } from '../../src/engines/dynamodb/rate-limit/index.js'
import { ConfigCache } from '../../src/guards/rate-limit/config-cache.js'
import { RateLimits } from '../../src/guards/rate-limit/index.js'
import { DEFAULT_LIMITS } from '../../src/guards/rate-limit/options.js'
import { CREDENTIALS, REGION, startDynamo } from '../../test/support/dynamodb-server.js'

export const RESOURCE = 'gpt-4'
/** Never used up. */
const LIMIT = { capacity: 1_000_000, refillAmount: 1_000_000, refillPeriodSeconds: 60 }
/** One user in so many has limits of their own. */
const PREMIUM = 20
/** Just after a change configuration is read for certain, which costs twice as much. */
const SETTLED_MS = 5000

/** DynamoDB with a system and a resource configured, and some users; what is counted holds anywhere, speed is an emulator's. */
export async function openConfigScene(premiumUsers: number) {
  const server = await startDynamo()
  const { guards: table } = await server.emptyTables(['guards'])
  const counts = new CapacityCounts()
  const serverClock = new ServerClock()
  const { endpoint } = server
  const client = new DynamoClient({
    ...{ region: REGION, endpoint, credentials: CREDENTIALS, counter: counts, serverClock },
  })
  const engine = openLimits({ client, table, timeoutMs: 10_000, clock: 'corrected', server: serverClock })
  const { configs } = engine
  // As in a process that serves: it follows changes, and reads the version of the schema with them.
  configs.watch(() => {})
  await configs.write({ level: 'system', resource: RESOURCE }, { limits: { rpm: LIMIT } })
  await configs.write({ level: 'resource', resource: RESOURCE }, { limits: { rpm: { burst: 2_000_000 } } })
  for (let i = 0; i < premiumUsers; i++) {
    const key = { level: 'entity', entity: userOf(i * PREMIUM), resource: RESOURCE } as const
    await configs.write(key, { limits: { rpm: { capacity: 2_000_000 } } })
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  const clock = new ManualClock(Date.now())
  const options = { ...DEFAULT_LIMITS, timeoutMs: 10_000, usage: false }
  return {
    configs,
    /** Read units of configuration since the last time. */
    units: () => {
      const { readUnits } = counts.of('limit.config')
      counts.reset()
      return readUnits
    },
    newCache: () => new ConfigCache(configs, clock, options.configCacheMs, options.configCacheEntries),
    newLimits: () => new RateLimits({ engine, clock, options, report: () => {} }),
    async close() {
      await engine.close()
      client.close()
      await server.stop()
    },
  }
}

export const userOf = (i: number): string => `user-${i}`

/** How long each of so many calls takes, in µs, some of them at the same time. */
export async function timed(count: number, together: number, call: (i: number) => unknown): Promise<number> {
  let next = 0
  const start = performance.now()
  const loop = async () => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: together }, loop))
  return ((performance.now() - start) / count) * 1000
}
