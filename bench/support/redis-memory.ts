import { randomBytes, randomUUID } from 'node:crypto'
import type { Catraca } from '../../src/app/open-catraca.js'
import type { RedisServers } from '../../test/support/redis/index.js'

const KEYS_AT_ONCE = 500
const DAY_MS = 86_400_000

/** What all keys take, as `MEMORY USAGE` of each counts it. */
export async function memoryOfKeys(server: RedisServers['servers'][number]): Promise<number> {
  const sum = `local sum = 0
    local step = redis.call('SCAN', ARGV[1], 'COUNT', ARGV[2])
    for _, key in ipairs(step[2]) do sum = sum + (redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0') or 0) end
    return { step[1], sum }`
  let bytes = 0
  let cursor = '0'
  do {
    const [next, found] = (await server.say('EVAL', sum, '0', cursor, String(KEYS_AT_ONCE))) as [
      string,
      number,
    ]
    cursor = String(next)
    bytes += Number(found)
  } while (cursor !== '0')
  return bytes
}

/** It does not compress to nothing. */
const textOf = (characters: number): string =>
  randomBytes(characters).toString('base64url').slice(0, characters)

/** Stores one item of a guard. */
export type Store = (catraca: Catraca, i: number) => Promise<unknown>

const HOUR = { capacity: 1000, refillPeriodSeconds: 3600 }
const acquire =
  (resource: string): Store =>
  (catraca, i) =>
    catraca.limits.acquire({ entity: `customer-${i}`, resource })

/** One item of each guard, with ids of the usual size. */
export const ITEMS: Record<string, { prepare?: (catraca: Catraca) => Promise<unknown>; store: Store }> = {
  'rate limit, a token bucket': { prepare: limitOf('bucket', { rpm: HOUR }), store: acquire('bucket') },
  'rate limit, two token buckets': {
    prepare: limitOf('two', { rpm: HOUR, tpm: HOUR }),
    store: acquire('two'),
  },
  'rate limit, a fixed window': {
    prepare: limitOf('fixed', { rpm: { ...HOUR, algorithm: 'fixed-window' } }),
    store: acquire('fixed'),
  },
  'idempotency record, answer of 200 bytes': {
    store: ({ idempotency }) =>
      idempotency.run({ operation: 'PAY', key: randomUUID(), payload: {} }, async () => textOf(200)),
  },
  'lock that is held': {
    store: ({ locks }, i) => locks.acquire(`claim:${i}`, { ttlMs: 600_000 }),
  },
  'one-time code': {
    store: ({ codes }, i) => codes.issue({ channel: 'email', address: `customer-${i}@example.com` }),
  },
  'revoked token': {
    store: ({ tokens }) =>
      tokens.revoke({ jti: randomUUID(), expiresAt: new Date(Date.now() + DAY_MS).toISOString() }),
  },
  'cached value of 250 bytes': {
    store: ({ cache }, i) => cache.space({ name: 'dict', ttlMs: DAY_MS }).set(`key-${i}`, textOf(250)),
  },
}

function limitOf(resource: string, limits: Record<string, object>) {
  return ({ limits: guard }: Catraca) => guard.setConfig({ level: 'system', resource }, { limits })
}
