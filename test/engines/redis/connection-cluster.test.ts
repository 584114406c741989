import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { openRedis } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { assembleScript } from '../../../src/engines/redis/link/script.js'
import { slotOf } from '../../../src/engines/redis/link/slot.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import {
  bump,
  commandCounts,
  failsInTime,
  inTime,
  type RedisProcess,
  type RedisServers,
  startCluster,
  until,
} from '../../support/redis/index.js'

const TIMEOUT_MS = 500

describe('redis connection to a cluster', () => {
  let servers: RedisServers
  let redis: Redis
  /** Only for calls that are to meet their deadline. */
  let hasty: Redis

  before(async () => {
    servers = await startCluster()
    redis = await openRedis(servers.url, PATIENT_REDIS)
    hasty = await openRedis(servers.url, { ...PATIENT_REDIS, commandTimeoutMs: TIMEOUT_MS })
  })
  beforeEach(() => servers.flush())
  after(async () => {
    await redis.close()
    await hasty.close()
    await servers.stop()
  })

  const everywhere = async (...args: string[]) => {
    for (const primary of await servers.primaries()) await primary.say(...args)
  }
  const ownerOf = async (slot: number): Promise<RedisProcess> => {
    const ranges = (await servers.servers[0]!.say('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)![2][1]
    return servers.servers.find((server) => server.port === port)!
  }

  it('knows the slot of every key', async () => {
    const keys = ['', 'a', 'é😀', '{a}b', 'x{a}y', '{}a', '{', 'a{b', '{a}{b}', '{{a}}', 'allowlist:123']
    for (const key of keys) {
      assert.equal(slotOf(key), await servers.servers[0]!.say('CLUSTER', 'KEYSLOT', key), key)
    }
    assert.equal(redis.slot('{allowlist:123}:log'), redis.slot('allowlist:123'))
  })

  it('brings each command to the server of its key', async () => {
    const keys = Array.from({ length: 200 }, (_, i) => `key${i}`)
    await Promise.all(keys.map((key) => redis.write(key, ['SET', key, key])))
    assert.deepEqual(await Promise.all(keys.map((key) => redis.read(key, ['GET', key]))), keys)
    const sizes = await redis.readEverywhere(['DBSIZE'])
    assert.equal(sizes.size, 3)
    for (const size of sizes.values()) assert.ok(Number(size) > 20, `${size} keys`)
    const { nodes } = await redis.info()
    assert.deepEqual(
      nodes.map(({ role }) => role),
      ['master', 'master', 'master'],
    )
  })

  it('gives one call the operations of one slot only', async () => {
    const tags = ['a', 'b', 'c', 'd', 'e']
    for (const tag of tags) await redis.run(bump, [`{${tag}}warm`], ['1'])
    await everywhere('CONFIG', 'RESETSTAT')
    const runs = Array.from({ length: 100 }, (_, i) => redis.run(bump, [`{${tags[i % 5]}}${i}`], [String(i)]))
    assert.deepEqual(await Promise.all(runs), Array.from(runs.keys()))
    let calls = 0
    for (const primary of await servers.primaries())
      calls += (await commandCounts(primary)).get('evalsha') ?? 0
    assert.equal(calls, 5)
  })

  it('refuses a script whose keys are in several slots, and nobody else suffers', async () => {
    const both = assembleScript('both', { keys: 2, write: true }, () => {
      return "return function(keys) redis.call('SET', keys[1], '1') return redis.call('SET', keys[2], '1') end"
    })
    await failsInTime(redis.run(both, ['a', 'b'], []), 'INTERNAL', 20_000)
    assert.deepEqual(await redis.run(both, ['{a}1', '{a}2'], []), 'OK')
  })

  it('follows a slot on its way and when it has moved', async () => {
    const slot = redis.slot('{moving}')
    const from = await ownerOf(slot)
    const to = (await servers.primaries()).find((server) => server !== from)!
    const [fromId, toId] = [
      String(await from.say('CLUSTER', 'MYID')),
      String(await to.say('CLUSTER', 'MYID')),
    ]
    await redis.write('{moving}1', ['SET', '{moving}1', '10'])
    await redis.write('{moving}2', ['SET', '{moving}2', '20'])
    await to.say('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', fromId)
    await from.say('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', toId)
    await from.say('MIGRATE', '127.0.0.1', String(to.port), '{moving}1', '0', '60000')
    // One key here, one there: ASK for the first, and a batch of both is served one by one.
    assert.equal(await redis.read('{moving}1', ['GET', '{moving}1']), '10')
    assert.equal(await redis.read('{moving}2', ['GET', '{moving}2']), '20')
    const runs = [redis.run(bump, ['{moving}1'], ['1']), redis.run(bump, ['{moving}2'], ['1'])]
    assert.deepEqual(await Promise.all(runs), [11, 21])
    await from.say('MIGRATE', '127.0.0.1', String(to.port), '{moving}2', '0', '60000')
    for (const server of [to, from]) await server.say('CLUSTER', 'SETSLOT', String(slot), 'NODE', toId)
    assert.equal(await redis.read('{moving}2', ['GET', '{moving}2']), '21')
    assert.equal(await redis.run(bump, ['{moving}1'], ['1']), 12)
  })

  it('survives kill -9 of a primary: no call hangs, all slots are served again, wake-ups are heard again', async () => {
    const heard: string[] = []
    const interruptions: string[] = []
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`)
    await Promise.all(keys.map((key) => redis.write(key, ['SET', key, '0'])))
    for (const primary of await servers.primaries()) await primary.say('WAIT', '1', '60000')
    await Promise.all(keys.map((key) => redis.run(bump, [key], ['0'])))
    await redis.subscribe(
      'wake',
      (text) => heard.push(text),
      (text) => interruptions.push(text),
    )
    const { victim } = await listenerOf(servers)
    let done = false
    const codes = new Set<string>()
    const readers = keys.map(async (key) => {
      while (!done) {
        await inTime(hasty.read(key, ['GET', key]), TIMEOUT_MS + 1000).catch((error: unknown) => {
          codes.add(isCatracaError(error) ? error.code : String(error))
        })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    await victim.kill()
    await until('every key is served again', async () => {
      await Promise.all(keys.map((key) => hasty.read(key, ['GET', key])))
      return true
    })
    done = true
    await Promise.all(readers)
    for (const code of codes) assert.equal(code, 'ENGINE_UNAVAILABLE')
    // The promoted replica has never seen the script.
    assert.deepEqual(
      await Promise.all(keys.map((key) => redis.run(bump, [key], ['1']))),
      keys.map(() => 1),
    )
    // The first message may come before `resumed`: the new connection listens a little earlier than it is told of.
    await until('wake-ups are heard again', async () => {
      await redis.write('wake', ['PUBLISH', 'wake', 'hello'])
      return heard.includes('hello') && interruptions.includes('resumed')
    })
    assert.equal(interruptions[0], 'lost')
    await victim.restart()
  })
})

/** The server that has the subscription. */
async function listenerOf(servers: RedisServers): Promise<{ victim: RedisProcess }> {
  for (const server of await servers.primaries()) {
    const channels = (await server.say('PUBSUB', 'CHANNELS')) as string[]
    if (channels.includes('wake')) return { victim: server }
  }
  throw new Error('nobody listens')
}
