import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { openRedis as connect } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { boundAt, DAY_MS, entryId } from '../../../src/guards/audit/entry-id.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'

const NOW = Date.UTC(2030, 0, 1)
const entry = (at: number, i = 0) => ({ id: entryId(at, i, '0000000a'), text: '{}' })

describe('the audit trail on Redis', () => {
  let servers: RedisServers
  let redis: Redis
  let engine: RedisEngine
  before(async () => {
    servers = await startSingle()
    redis = await connect(servers.url, PATIENT_REDIS)
  })
  beforeEach(async () => {
    await servers.flush()
    engine = await openRedis(servers.url, PATIENT_REDIS)
  })
  after(async () => {
    await redis.close()
    await servers.stop()
  })
  const keys = async () => ((await redis.read('', ['KEYS', 'audit:*'])) as string[]).sort()

  it('has a key for each day, none without an end, which only moves back', async (t) => {
    t.after(() => engine.close())
    const retentionMs = 30 * DAY_MS
    await engine.audit.append([entry(NOW), entry(NOW - 1)], { retentionMs, now: NOW })
    assert.deepEqual(await keys(), ['audit:2029-12-31', 'audit:2030-01-01'])
    const ttl = async (key: string) => Number(await redis.read(key, ['PTTL', key]))
    const [old, young] = [await ttl('audit:2029-12-31'), await ttl('audit:2030-01-01')]
    assert.ok(old > 31 * DAY_MS - 60_000 && old <= 31 * DAY_MS, `${old}`)
    assert.ok(young > 32 * DAY_MS - 60_000 && young <= 32 * DAY_MS, `${young}`)
    await engine.audit.append([entry(NOW, 1)], { retentionMs: DAY_MS, now: NOW })
    assert.ok((await ttl('audit:2030-01-01')) > 31 * DAY_MS)
    await engine.audit.append([entry(NOW, 2)], { retentionMs: 90 * DAY_MS, now: NOW })
    assert.ok((await ttl('audit:2030-01-01')) > 91 * DAY_MS)
    await engine.audit.append([entry(NOW - 500 * DAY_MS)], { retentionMs, now: NOW })
    for (const key of await keys()) assert.notEqual(await ttl(key), -1, key)
  })

  it('drops whole days, also those that it did not write itself', async (t) => {
    t.after(() => engine.close())
    const keeping = { retentionMs: 1000 * DAY_MS, now: NOW }
    const days = [0, 29, 30, 31, 200]
    await engine.audit.append(
      days.map((day) => entry(NOW - day * DAY_MS)),
      keeping,
    )
    const other = await openRedis(servers.url, PATIENT_REDIS)
    t.after(() => other.close())
    await other.audit.sweep(NOW - 30 * DAY_MS + 5)
    assert.deepEqual(await keys(), ['audit:2029-12-02', 'audit:2029-12-03', 'audit:2030-01-01'])
    await other.audit.sweep(NOW - 29 * DAY_MS)
    assert.deepEqual(await keys(), ['audit:2029-12-03', 'audit:2030-01-01'])
    const { entries } = await engine.audit.read(boundAt(NOW + 1), boundAt(NOW - 30 * DAY_MS), 10)
    assert.equal(entries.length, 2)
  })
})
