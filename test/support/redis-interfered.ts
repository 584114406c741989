import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import { openStores } from '../../src/engines/redis/stores.js'
import type { RedisUrl } from '../../src/engines/redis/url.js'
import { PATIENT_REDIS } from './patient.js'
import { STORE_OPTIONS, watched } from './redis-bulk.js'

/** Stores over a connection that `interfere` may hold up or break. */
export async function interfered(
  url: RedisUrl,
  interfere: (script: string, run: () => Promise<unknown>) => Promise<unknown>,
  commands: (args: readonly unknown[]) => void = () => {},
) {
  const redis = await connect(url, PATIENT_REDIS)
  const broken = new Proxy(watched(redis, interfere), {
    get(target, name: keyof typeof redis) {
      const value = target[name] as unknown
      if (name !== 'read' && name !== 'write') return value
      return async (key: string, args: readonly string[]) => {
        commands(args)
        return redis[name](key, args)
      }
    },
  })
  const stores = openStores(broken, STORE_OPTIONS)
  await stores.tokens.open()
  return {
    ...stores,
    close: async () => {
      stores.tokens.close()
      await redis.close()
    },
  }
}
