import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openRedis } from '../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../src/engines/redis/link/redis.js'
import { isCatracaError } from '../../src/errors.js'
import { bump, failsInTime, inTime, type RedisServers, startSentinel, until } from '../support/redis/index.js'

const TIMEOUT_MS = 500
const PASSWORD = 'secret of the servers'

describe('redis connection through Sentinels', () => {
  let servers: RedisServers
  let redis: Redis

  before(async () => {
    servers = await startSentinel({ password: PASSWORD })
    redis = await openRedis(servers.url, { commandTimeoutMs: TIMEOUT_MS })
  })
  after(async () => {
    await redis.close()
    await servers.stop()
  })

  it('finds the master, though Sentinels know no password', async () => {
    assert.equal(await redis.write('a', ['SET', 'a', '1']), 'OK')
    const { nodes } = await redis.info()
    assert.deepEqual(
      nodes.map(({ address, role }) => ({ address, role })),
      [{ address: (await servers.primaries())[0]!.address, role: 'master' }],
    )
  })

  it('says so when the Sentinels do not know the name', async () => {
    const attempt = openRedis({ ...servers.url, master: 'other' }, { connectTimeoutMs: 2000 })
    assert.match(await failsInTime(attempt, 'ENGINE_UNAVAILABLE', 3000), /no Sentinel names the master other/)
  })

  it('waits for replicas when asked to', async () => {
    const careful = await openRedis(servers.url, { waitReplicas: { replicas: 2, timeoutMs: 2000 } })
    assert.equal(await careful.write('w', ['SET', 'w', '1']), 'OK')
    assert.deepEqual(await Promise.all([1, 2].map(() => careful.run(bump, ['n'], ['1']))), [1, 2])
    await careful.close()
    const demanding = await openRedis(servers.url, { waitReplicas: { replicas: 3, timeoutMs: 100 } })
    await failsInTime(demanding.write('w', ['SET', 'w', '2']), 'UNKNOWN_OUTCOME', 500)
    await demanding.close()
  })

  it('survives kill -9 of the master without a restart, and no call hangs', async () => {
    const heard: string[] = []
    const interruptions: string[] = []
    await redis.subscribe(
      'wake',
      (text) => heard.push(text),
      (text) => interruptions.push(text),
    )
    await redis.run(bump, ['n'], ['1'])
    const [master] = await servers.primaries()
    let done = false
    const codes = new Set<string>()
    const writers = Array.from({ length: 4 }, async () => {
      while (!done) {
        await inTime(redis.write('c', ['INCR', 'c']), TIMEOUT_MS + 300).catch((error: unknown) => {
          codes.add(isCatracaError(error) ? error.code : String(error))
        })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    await master!.kill()
    await until('a new master takes writes', async () => (await redis.write('a', ['SET', 'a', '2'])) === 'OK')
    done = true
    await Promise.all(writers)
    for (const code of codes) assert.match(code, /^(ENGINE_UNAVAILABLE|UNKNOWN_OUTCOME)$/)
    const [successor] = await servers.primaries()
    assert.notEqual(successor, master)
    assert.equal(typeof (await redis.run(bump, ['n'], ['1'])), 'number')
    // The first message may come before `resumed`: the new connection listens a little earlier than it is told of.
    await until('wake-ups are heard again', async () => {
      await redis.write('wake', ['PUBLISH', 'wake', 'hello'])
      return heard.includes('hello') && interruptions.includes('resumed')
    })
    assert.deepEqual(interruptions.slice(0, 2), ['lost', 'resumed'])
  })
})
