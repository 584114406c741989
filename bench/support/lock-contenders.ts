import { createRequire } from 'node:module'
import { createClient } from '@redis/client'
import { Redis as IoRedis } from 'ioredis'
import { createLock, IoredisAdapter, NodeRedisAdapter } from 'redlock-universal'
import { openCatraca } from '../../src/app/open-catraca.js'
import { startSingle } from '../../test/support/redis/index.js'

const TTL_MS = 30_000
const TTL = String(TTL_MS)
const TAKE = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])"
const GIVE_BACK =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

interface Redlock {
  acquire(resources: string[], ttlMs: number): Promise<{ release(): Promise<unknown> }>
}
/** Its types cannot be found by what it exports. */
const { default: NodeRedlock } = createRequire(import.meta.url)('redlock') as {
  default: new (clients: unknown[], settings: object) => Redlock
}

interface RawClient {
  sendCommand(args: string[]): Promise<unknown>
}

/** Everybody who can take and give back a lock on one Redis, on a server of their own. */
export async function lockContenders() {
  const servers = await startSingle()
  const { port } = servers.servers[0]!
  const address = { host: '127.0.0.1', port }
  const catraca = await openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0 })
  const ioredis = new IoRedis(address)
  const asItComes = await createClient({ socket: address, maintNotifications: 'disabled' }).connect()
  const withoutTimeouts = asItComes.withCommandOptions({ timeout: 0 }) as unknown as RawClient
  const shas = await Promise.all(
    [TAKE, GIVE_BACK].map(async (script) => String(await asItComes.sendCommand(['SCRIPT', 'LOAD', script]))),
  )
  const raw = (client: RawClient) => async (name: string) => {
    await client.sendCommand(['EVALSHA', shas[0]!, '1', `raw:${name}`, 'owner', TTL])
    await client.sendCommand(['EVALSHA', shas[1]!, '1', `raw:${name}`, 'owner'])
  }
  const universal = (adapter: NodeRedisAdapter | IoredisAdapter) => async (name: string) => {
    const lock = createLock({ adapter, key: `universal:${name}`, ttl: TTL_MS, performance: 'lean' })
    await lock.release(await lock.acquire())
  }
  const redlock = new NodeRedlock([ioredis], { automaticExtensionThreshold: 0 })
  return {
    contenders: {
      catraca: async (name: string) => {
        const answer = await catraca.locks.acquire(name, { ttlMs: TTL_MS })
        if (!answer.acquired) throw new Error(`${name} is held`)
        await catraca.locks.release(name, answer.token)
      },
      'two EVALSHA, node-redis as it comes': raw(asItComes),
      'two EVALSHA, node-redis without timeouts': raw(withoutTimeouts),
      'redlock-universal on node-redis': universal(new NodeRedisAdapter(asItComes as never)),
      'redlock-universal on ioredis': universal(new IoredisAdapter(ioredis as never)),
      'node-redlock 5 on ioredis': async (name: string) => {
        const lock = await redlock.acquire([`redlock:${name}`], TTL_MS)
        await lock.release()
      },
    },
    async close() {
      ioredis.disconnect()
      asItComes.destroy()
      await catraca.close()
      await servers.stop()
    },
  }
}
