import type { Fields } from '../../core/fields.js'
import type { EngineEntry } from '../registry-entry.js'
import type { RedisOptions } from './link/options.js'
import type { RedisEngineOptions } from './options.js'
import { parseCluster, parseSentinel, parseSingleRedis, type RedisUrl, redactRedis } from './url.js'

/** Options of connections, which the hot tier has too. */
export const REDIS_FIELDS: Fields<Omit<RedisOptions, 'readPassword' | 'confirmFrom'>> = {
  ...{ connectTimeoutMs: true, commandTimeoutMs: true, poolSize: true, maxInFlight: true, maxWaiting: true },
  tls: { ca: true, servername: true, rejectUnauthorized: true },
  maxBatch: { items: true, bytes: true },
  waitReplicas: { replicas: true, timeoutMs: true },
}

export const redisEntry: EngineEntry<RedisUrl, RedisEngineOptions> = {
  forms: [
    'redis://HOST:PORT/DATABASE',
    'rediss://…',
    'redis+sentinel://HOST:PORT,…/MASTER',
    'redis+cluster://HOST:PORT,…',
  ],
  schemes: {
    redis: (rest) => parseSingleRedis(rest, false),
    rediss: (rest) => parseSingleRedis(rest, true),
    'redis+sentinel': parseSentinel,
    'redis+cluster': parseCluster,
  },
  facts: (url) => ({ shown: redactRedis(url), isRemote: true, hasPassword: url.password !== undefined }),
  fields: {
    ...REDIS_FIELDS,
    ...{ readPassword: true, maxLogBytes: true, staleAfterMs: true, shardAbove: true, initialShards: true },
    confirmFrom: true,
    ...{ limitClock: true, idempotencyClock: true, idempotencyNaming: true, use: true },
  },
  async open(url, options, { report: _, staleAfterMs, compareIntervalMs: __, ...decided }) {
    const { openRedis } = await import('./index.js')
    return openRedis(url, { ...(staleAfterMs !== undefined && { staleAfterMs }), ...options, ...decided })
  },
  async diagnose(url, options, use, where) {
    const { diagnoseRedis } = await import('./diagnose/index.js')
    return diagnoseRedis(url, options, use, where)
  },
  checks: async () => (await import('./diagnose/index.js')).REDIS_CHECKS,
}
