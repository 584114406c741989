import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Finding } from '../../src/core/diagnosis.js'
import { diagnoseRedis } from '../../src/engines/redis/diagnose/index.js'
import type { RedisUrl } from '../../src/engines/redis/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { foundBy, levelsOf } from '../support/findings.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startCluster, startSentinel, startSingle, until } from '../support/redis/index.js'
import { command } from './run.js'

const MIB = String(64 * 1024 * 1024)
const guards = { use: 'guards', cacheSpaces: ['catalog'] } as const

async function look(
  url: string | RedisUrl,
  use: 'guards' | 'caches' = 'guards',
  options: Parameters<typeof diagnoseRedis>[1] = {},
): Promise<Finding[]> {
  const parsed = typeof url === 'string' ? (parseStoreUrl(url) as RedisUrl) : url
  return (await diagnoseRedis(parsed, options, { ...guards, use }, 'here')).findings
}

describe('catraca doctor on a Redis server', () => {
  let servers: RedisServers
  const say = (...args: string[]) => servers.servers[0]!.say(...args)
  const level = async (id: string, use?: 'guards' | 'caches'): Promise<string | undefined> =>
    levelsOf(await look(servers.url, use))[id]

  before(async () => {
    servers = await startSingle()
  })
  after(() => servers.stop())

  it('finds nothing wrong with one that is set up as the guide says', async () => {
    await say('CONFIG', 'SET', 'maxmemory', MIB)
    await say('CONFIG', 'SET', 'appendonly', 'yes')
    await say('CONFIG', 'SET', 'slowlog-log-slower-than', '10000000')
    await say('SLOWLOG', 'RESET')
    const bad = (await look(servers.url)).filter(({ level }) => level !== 'ok')
    // A busy machine may be slow to answer.
    assert.deepEqual(
      bad.filter(({ id }) => id !== 'redis.latency'),
      [],
    )
  })

  it('finds a clock that differs', async () => {
    const now = () => Date.now() - 60_000
    const { findings } = await diagnoseRedis(servers.url, {}, { ...guards, now }, 'here')
    assert.match(foundBy(findings, 'redis.clock'), /(59|60)\d{3} ms ahead of this one/)
    assert.equal(levelsOf(findings)['redis.clock'], 'problem')
  })

  it('tells the eviction policy by what is kept', async () => {
    await say('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    assert.deepEqual(
      [await level('redis.eviction'), await level('redis.eviction', 'caches')],
      ['problem', 'warning'],
    )
    await say('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
    assert.deepEqual(
      [await level('redis.eviction'), await level('redis.eviction', 'caches')],
      ['problem', 'ok'],
    )
    await say('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    assert.equal(await level('redis.eviction'), 'ok')
  })

  it('tells of memory: none set, nearly full, keys dropped', async () => {
    await say('CONFIG', 'SET', 'maxmemory', '0')
    assert.equal(await level('redis.maxmemory'), 'warning')
    const used = Number(/used_memory:(\d+)/.exec(String(await say('INFO', 'memory')))![1])
    await say('CONFIG', 'SET', 'maxmemory', String(Math.round(used * 1.12)))
    assert.equal(await level('redis.memory'), 'warning')
    await say('CONFIG', 'SET', 'maxmemory', MIB)
    assert.deepEqual([await level('redis.maxmemory'), await level('redis.memory')], ['ok', 'ok'])
    assert.equal(await level('redis.evictions'), 'ok')
    await say('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    for (let i = 0; i < 200; i++) await say('SET', `filler${i % 20}`, 'x')
    await say('CONFIG', 'SET', 'maxmemory', '1mb')
    assert.equal(await level('redis.evictions'), 'problem')
    await say('CONFIG', 'SET', 'maxmemory', MIB)
    await say('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await say('CONFIG', 'RESETSTAT')
    assert.equal(await level('redis.evictions'), 'ok')
  })

  it('tells of persistence', async () => {
    await say('CONFIG', 'SET', 'appendfsync', 'no')
    assert.equal(await level('redis.persistence'), 'warning')
    await say('CONFIG', 'SET', 'appendfsync', 'everysec')
    assert.equal(await level('redis.persistence'), 'ok')
    await say('CONFIG', 'SET', 'appendonly', 'no')
    assert.match(foundBy(await look(servers.url), 'redis.persistence'), /a restart loses everything/)
    assert.equal(await level('redis.persistence', 'caches'), 'ok')
    await say('CONFIG', 'SET', 'appendonly', 'yes')
  })

  it('counts keys that should expire and do not, and never names them', async () => {
    const endless = [
      'ratelimit:bob:api',
      'otp:sms:+5511999',
      'lock:job',
      'bridge:idempotency:pay:1',
      'catalog:7',
    ]
    for (const key of endless) await say('SET', key, 'secret-value')
    const kept = ['ratelimit:config', 'allowlist:vip', 'catraca:store', 'other:thing']
    for (const key of kept) await say('SET', key, 'secret-value')
    const findings = await look(servers.url)
    assert.equal(levelsOf(findings)['redis.expiry'], 'warning')
    const found = foundBy(findings, 'redis.expiry')
    for (const kind of ['rate limits', 'one-time codes', 'locks', 'idempotency', 'cache']) {
      assert.match(found, new RegExp(`1 of ${kind}`))
    }
    assert.doesNotMatch(JSON.stringify(findings), /secret-value|5511999/)
    for (const key of endless) await say('PEXPIRE', key, '60000')
    assert.equal(await level('redis.expiry'), 'ok')
    await say('DEL', ...endless, ...kept)
  })

  it('says whether keys of the index of version 0.1.0 are left', async () => {
    assert.equal(await level('redis.older-keys'), 'ok')
    await say('HSET', 'customer-allowlists:ann', 'vip', '+1:0:1')
    const findings = await look(servers.url)
    assert.equal(levelsOf(findings)['redis.older-keys'], 'warning')
    assert.doesNotMatch(foundBy(findings, 'redis.older-keys'), /ann/)
    await say('DEL', 'customer-allowlists:ann')
  })

  it('shows scripts in the slow log by name, without what they were given', async () => {
    const store = await openPatiently({ store: servers.storeUrl, sweepIntervalMs: 0 })
    await say('CONFIG', 'SET', 'slowlog-log-slower-than', '0')
    await store.locks.acquire('job-of-somebody', { ttlMs: 1000 })
    await say('CONFIG', 'SET', 'slowlog-log-slower-than', '10000000')
    await store.close()
    const findings = await look(servers.url)
    assert.equal(levelsOf(findings)['redis.slow-log'], 'warning')
    assert.match(foundBy(findings, 'redis.slow-log'), /script lock-acquire \d/)
    assert.doesNotMatch(JSON.stringify(findings), /job-of-somebody/)
    await say('SLOWLOG', 'RESET')
    assert.equal(await level('redis.slow-log'), 'ok')
  })

  it('tells of writes that wait for replicas that are not there', async () => {
    const levels = levelsOf(
      await look(servers.url, 'guards', { waitReplicas: { replicas: 1, timeoutMs: 100 } }),
    )
    assert.equal(levels['redis.replicas'], 'problem')
    assert.equal(await level('redis.replicas'), 'ok')
  })

  it('tells which commands the user of the URL lacks', async () => {
    await say('ACL', 'SETUSER', 'app', 'on', '>pass', '~*', '&*', '+@all', '-zadd', '-xadd')
    const url: RedisUrl = { ...servers.url, username: 'app', password: 'pass' }
    const findings = await look(url)
    assert.match(foundBy(findings, 'redis.permissions'), /not allowed: ZADD allowlists, XADD/)
    assert.doesNotMatch(JSON.stringify(findings), /pass"/)
    await say('ACL', 'SETUSER', 'app', '+@all')
    assert.equal(levelsOf(await look(url))['redis.permissions'], 'ok')
    await say('ACL', 'SETUSER', 'app', '-acl')
    assert.equal(levelsOf(await look(url))['redis.permissions'], 'skipped')
    await say('ACL', 'SETUSER', 'app', '-script')
    assert.equal(levelsOf(await look(url))['redis.scripts'], 'problem')
  })

  it('ends, with a finding, when the server hangs', async () => {
    servers.servers[0]!.pause()
    try {
      const env = { CATRACA_REDIS_CONNECT_TIMEOUT_MS: '500' }
      const { code, stdout } = await command(['doctor', '--json', '--store', servers.storeUrl], { env })
      const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] }
      assert.deepEqual([code, ok], [1, false])
      const levels = levelsOf(findings)
      assert.deepEqual([levels['redis.connect'], levels['redis.expiry']], ['problem', 'skipped'])
    } finally {
      servers.servers[0]!.resume()
    }
  })

  it('says it by exit code and in lines; warnings count when asked for', async () => {
    await say('CONFIG', 'SET', 'maxmemory', '0')
    const plain = await command(['doctor', '--store', servers.storeUrl])
    assert.equal(plain.code, 0)
    assert.match(
      plain.stdout,
      /^warning {2}redis\.maxmemory +redis:\S+: maxmemory is not set → Set `maxmemory`/m,
    )
    assert.equal((await command(['doctor', '--strict', '--store', servers.storeUrl])).code, 1)
    await say('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    assert.equal((await command(['doctor', '--store', servers.storeUrl])).code, 1)
    // The same server for nothing but caches.
    const env = { CATRACA_STORE_CACHE: servers.storeUrl, CATRACA_STORE: 'memory:' }
    const cached = await command(['doctor'], { env })
    assert.match(cached.stdout, /^warning {2}redis\.eviction/m)
    assert.equal(cached.code, 0)
  })
})

describe('catraca doctor on Sentinel', () => {
  it('tells of Sentinels that are away, and of a lost quorum', async () => {
    const servers = await startSentinel()
    try {
      const findings = await look(servers.url)
      assert.equal(levelsOf(findings)['redis.topology'], 'ok')
      assert.equal(levelsOf(findings)['redis.replicas'], 'warning')
      await servers.sentinels[2]!.kill()
      assert.equal(levelsOf(await look(servers.url))['redis.topology'], 'warning')
      await servers.sentinels[1]!.kill()
      await servers.sentinels[0]!.say('SENTINEL', 'SET', 'mymaster', 'down-after-milliseconds', '500')
      const isLost = async () => levelsOf(await look(servers.url))['redis.topology'] === 'problem'
      await until('the last Sentinel has no quorum', isLost)
    } finally {
      await servers.stop()
    }
  })
})

describe('catraca doctor on a cluster', () => {
  it('tells of slots that nobody serves', async () => {
    const servers = await startCluster()
    try {
      await servers.calm()
      const fine = await look(servers.url)
      assert.equal(levelsOf(fine)['redis.topology'], 'ok')
      assert.equal(foundBy(fine, 'redis.version').split('\n').length, 1)
      await servers.servers[0]!.say('CLUSTER', 'DELSLOTS', '0')
      assert.match(foundBy(await look(servers.url), 'redis.topology'), /16383 of 16384/)
      await servers.servers[0]!.say('CLUSTER', 'ADDSLOTS', '0')
      const isMended = async () => levelsOf(await look(servers.url))['redis.topology'] === 'ok'
      await until('all slots are served', isMended)
    } finally {
      await servers.stop()
    }
  })
})
