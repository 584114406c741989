import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { diagnoseRedis } from '../../../src/engines/redis/diagnose/index.js'
import { openRedis as openEngine } from '../../../src/engines/redis/index.js'
import type { Address } from '../../../src/engines/redis/link/address.js'
import { openRedis } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { masterOf } from '../../../src/engines/redis/link/sentinel-views.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import {
  bump,
  failsInTime,
  inTime,
  type RedisProcess,
  type RedisServers,
  startSentinel,
  until,
} from '../../support/redis/index.js'

const TIMEOUT_MS = 500
/** Sentinels wait between two failovers, and for each other where there is little processor time. */
const LONG_MS = 180_000
const PASSWORD = 'secret of the servers'

describe('redis connection through Sentinels', () => {
  let servers: RedisServers
  let redis: Redis
  /** Only for calls that are to meet their deadline. */
  let hasty: Redis

  before(async () => {
    servers = await startSentinel({ password: PASSWORD })
    redis = await openRedis(servers.url, { connectTimeoutMs: LONG_MS, commandTimeoutMs: LONG_MS })
    hasty = await openRedis(servers.url, { connectTimeoutMs: LONG_MS, commandTimeoutMs: TIMEOUT_MS })
  })
  after(async () => {
    await redis.close()
    await hasty.close()
    await servers.stop()
  })

  /** Whom it writes to. Sentinels may disagree for a while after a failover, so they are not asked here. */
  async function masterFor(client: Redis): Promise<RedisProcess> {
    const { nodes } = await client.info()
    return servers.servers.find(({ address }) => address === nodes[0]!.address)!
  }

  it('finds the master, though Sentinels know no password', async () => {
    assert.equal(await redis.write('a', ['SET', 'a', '1']), 'OK')
    const { nodes } = await redis.info()
    assert.deepEqual(
      nodes.map(({ address, role }) => ({ address, role })),
      [{ address: (await servers.primaries())[0]!.address, role: 'master' }],
    )
  })

  it('warns at the start, in /health and by doctor of a master that takes writes without replicas', async () => {
    const [master] = await servers.primaries()
    const look = async () => {
      const engine = await openEngine(servers.url, PATIENT_REDIS)
      const { findings } = await diagnoseRedis(servers.url, {}, { use: 'guards', cacheSpaces: [] }, 'here')
      const { warnings } = await engine.health()
      await engine.close()
      assert.deepEqual(warnings, engine.warnings)
      const found = findings.find(({ id }) => id === 'redis.replicas')
      return [engine.warnings.some((text) => /set min-replicas-to-write 1/.test(text)), found?.level]
    }
    assert.deepEqual(await look(), [true, 'warning'])
    await master!.say('CONFIG', 'SET', 'min-replicas-to-write', '1')
    assert.deepEqual(await look(), [false, 'ok'])
    await master!.say('CONFIG', 'SET', 'min-replicas-to-write', '0')
  })

  it('says so when the Sentinels do not know the name', async () => {
    const attempt = openRedis({ ...servers.url, master: 'other' }, { connectTimeoutMs: 2000 })
    assert.match(await failsInTime(attempt, 'ENGINE_UNAVAILABLE', 5000), /no Sentinel names the master other/)
  })

  it('waits for replicas when asked to', async () => {
    const careful = await openRedis(servers.url, {
      ...PATIENT_REDIS,
      waitReplicas: { replicas: 2, timeoutMs: 20_000 },
    })
    assert.equal(await careful.write('w', ['SET', 'w', '1']), 'OK')
    assert.deepEqual(await Promise.all([1, 2].map(() => careful.run(bump, ['n'], ['1']))), [1, 2])
    await careful.close()
    const demanding = await openRedis(servers.url, {
      ...PATIENT_REDIS,
      waitReplicas: { replicas: 3, timeoutMs: 100 },
    })
    await failsInTime(demanding.write('w', ['SET', 'w', '2']), 'UNKNOWN_OUTCOME', 20_000)
    await demanding.close()
  })

  it('leaves a master that was deposed while it was stopped, on idle, silent and new links', async (t) => {
    const clients = await Promise.all(
      [TIMEOUT_MS, 8000].map((commandTimeoutMs) =>
        openRedis(servers.url, { connectTimeoutMs: LONG_MS, commandTimeoutMs }),
      ),
    )
    const [deposed] = await servers.primaries()
    deposed!.pause()
    const answered = clients.map((): string[] => [])
    let done = false
    const writers = clients.map(async (client, name) => {
      for (let i = 0; !done; i++) {
        const id = `${name}-${i}`
        const wrote = client.write('ids', ['SADD', 'ids', id])
        await wrote.then(() => answered[name]!.push(id)).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    t.after(async () => {
      done = true
      await Promise.all(writers)
      for (const client of clients) await client.close()
    })
    let [named] = await servers.primaries()
    await until(
      'another master is named',
      async () => {
        ;[named] = await servers.primaries()
        return named !== deposed
      },
      LONG_MS,
    )
    deposed!.resume()
    await deposed!.ready()
    assert.equal(await redis.write('after', ['SET', 'after', '1']), 'OK')
    for (const ids of answered) await until('writes are answered', () => ids.length >= 20, LONG_MS)
    assert.equal(((await deposed!.say('ROLE')) as unknown[])[0], 'master', 'it does not know it yet')
    assert.equal(await deposed!.say('EXISTS', 'after'), 0)
    // Before the members are read: the writers go on.
    const acknowledged = answered.flat()
    const kept = new Set((await named!.say('SMEMBERS', 'ids')) as string[])
    const lost = acknowledged.filter((id) => !kept.has(id))
    assert.deepEqual(lost, [], 'every write that was answered is on the new master')
  })

  it('survives kill -9 of the master without a restart, and no call hangs', async () => {
    const heard: string[] = []
    const interruptions: string[] = []
    await redis.subscribe(
      'wake',
      (text) => heard.push(text),
      (text) => interruptions.push(text),
    )
    const master = await masterFor(redis)
    let done = false
    const codes = new Set<string>()
    const writers = Array.from({ length: 4 }, async () => {
      while (!done) {
        await inTime(hasty.write('c', ['INCR', 'c']), TIMEOUT_MS + 1000).catch((error: unknown) => {
          codes.add(isCatracaError(error) ? error.code : String(error))
        })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    await master.kill()
    const isTaken = async () => (await hasty.write('a', ['SET', 'a', '2'])) === 'OK'
    await until('a new master takes writes', isTaken, LONG_MS)
    done = true
    await Promise.all(writers)
    for (const code of codes) assert.match(code, /^(ENGINE_UNAVAILABLE|UNKNOWN_OUTCOME)$/)
    assert.notEqual((await masterFor(redis)).port, master.port)
    assert.equal(typeof (await redis.run(bump, ['n'], ['1'])), 'number')
    // The first message may come before `resumed`: the new connection listens a little earlier than it is told of.
    await until('wake-ups are heard again', async () => {
      await redis.write('wake', ['PUBLISH', 'wake', 'hello'])
      return heard.includes('hello') && interruptions.includes('resumed')
    })
    assert.equal(interruptions[0], 'lost')
  })

  // The last one: Sentinels that were stopped do nothing for half a minute.
  it('goes on without Sentinels, but does not believe a server that was silent until one names it', async (t) => {
    const patient = await openRedis(servers.url, { connectTimeoutMs: LONG_MS, commandTimeoutMs: 20_000 })
    t.after(() => patient.close())
    const master = await masterFor(patient)
    for (const sentinel of servers.sentinels) sentinel.pause()
    try {
      // Longer than a word of theirs counts.
      const endsMs = performance.now() + 3000
      while (performance.now() < endsMs) {
        assert.equal(await patient.write('a', ['SET', 'a', '3']), 'OK')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      master.pause()
      const silent = patient.write('a', ['SET', 'a', '4'])
      setTimeout(() => master.resume(), 2000)
      assert.match(await failsInTime(silent, 'UNKNOWN_OUTCOME', 40_000), /no Sentinel names the master/)
    } finally {
      master.resume()
      for (const sentinel of servers.sentinels) sentinel.resume()
    }
    await until(
      'writes are taken again',
      async () => (await patient.write('a', ['SET', 'a', '5'])) === 'OK',
      LONG_MS,
    )
  })
})

describe('Sentinels that disagree', () => {
  const [old, fresh] = [6379, 6380].map((port) => ({ host: '127.0.0.1', port })) as [Address, Address]
  const view = (address: Address, epoch: number) => ({ address, epoch })

  it('the highest epoch counts', () => {
    assert.equal(masterOf([view(old, 1), view(old, 1), view(fresh, 2)], old), fresh)
    assert.equal(masterOf([], old), undefined)
  })

  it('within one epoch most of them do, and of as many the master stays', () => {
    assert.equal(masterOf([view(old, 2), view(fresh, 2), view(fresh, 2)], old), fresh)
    assert.equal(masterOf([view(old, 2), view(fresh, 2)], fresh), fresh)
    assert.equal(masterOf([view(old, 2), view(fresh, 2)], old), old)
  })
})
