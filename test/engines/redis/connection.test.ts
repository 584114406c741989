import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { openRedis } from '../../../src/engines/redis/link/open-redis.js'
import type { RedisOptions } from '../../../src/engines/redis/link/options.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { assembleScript } from '../../../src/engines/redis/link/script.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import {
  bump,
  commandCounts,
  failsInTime,
  inTime,
  makeCertificates,
  type RedisProcess,
  type RedisServers,
  startSingle,
  until,
} from '../../support/redis/index.js'

const TIMEOUT_MS = 300
/** Only for tests in which a call is to meet its deadline. */
const HASTY = { commandTimeoutMs: TIMEOUT_MS }
/** Deadlines are looked at in steps, on a machine that does other things too. */
const IN_TIME_MS = TIMEOUT_MS + 1000
/** For what comes at once: far less than the patience of the connection. */
const AT_ONCE_MS = 20_000

describe('redis connection', () => {
  let servers: RedisServers
  let server: RedisProcess
  const opened: Redis[] = []

  const open = async (options: RedisOptions = {}): Promise<Redis> => {
    const redis = await openRedis(servers.url, { ...PATIENT_REDIS, ...options })
    opened.push(redis)
    return redis
  }

  before(async () => {
    servers = await startSingle()
    server = servers.servers[0]!
  })
  beforeEach(async () => {
    await Promise.all(opened.splice(0).map((redis) => redis.close()))
    await servers.flush()
    await server.say('CONFIG', 'RESETSTAT')
  })
  after(async () => {
    await Promise.all(opened.map((redis) => redis.close()))
    await servers.stop()
  })

  describe('commands', () => {
    it('answers text, bytes, numbers and maps as they are', async () => {
      const redis = await open()
      assert.equal(await redis.write('a', ['SET', 'a', 'é']), 'OK')
      assert.equal(await redis.read('a', ['GET', 'a']), 'é')
      assert.deepEqual(await redis.readBinary('a', ['GET', 'a']), Buffer.from('é'))
      const bytes = Buffer.from([0, 255, 13, 10])
      await redis.write('b', ['SET', 'b', bytes])
      assert.deepEqual(await redis.readBinary('b', ['GET', 'b']), bytes)
      assert.equal(await redis.read('c', ['GET', 'c']), null)
      await redis.write('h', ['HSET', 'h', '__proto__', '1', 'x', '2'])
      const map = new Map([
        ['__proto__', '1'],
        ['x', '2'],
      ])
      assert.deepEqual(await redis.read('h', ['HGETALL', 'h']), map)
    })

    it('turns errors of the server into errors of the product', async () => {
      const redis = await open()
      await redis.write('a', ['SET', 'a', '1'])
      const message = await failsInTime(redis.read('a', ['SMEMBERS', 'a']), 'STORE_CORRUPT', AT_ONCE_MS)
      assert.match(message, /SMEMBERS: WRONGTYPE/)
      const unknown = await failsInTime(redis.read('a', ['NOSUCH', 'secret']), 'INTERNAL', AT_ONCE_MS)
      assert.doesNotMatch(unknown, /secret/)
    })

    it('says that the store is full when Redis is out of memory', async () => {
      const redis = await open()
      await server.say('CONFIG', 'SET', 'maxmemory', '1')
      try {
        await failsInTime(redis.write('a', ['SET', 'a', '1']), 'STORE_FULL', AT_ONCE_MS)
        await failsInTime(redis.run(bump, ['n'], ['1']), 'STORE_FULL', AT_ONCE_MS)
      } finally {
        await server.say('CONFIG', 'SET', 'maxmemory', '0')
      }
    })

    it('tries again what a replica refused, until it is a master or the time is over', async () => {
      const redis = await open()
      await server.say('REPLICAOF', '127.0.0.1', '1')
      try {
        const late = await open(HASTY)
        // At its deadline a write may wait for an answer; then its outcome is unknown.
        await until('a write ends between two refusals', async () => {
          const write = inTime(late.write('a', ['SET', 'a', '1']), IN_TIME_MS)
          return isCatracaError(await write.catch((error: unknown) => error), 'ENGINE_UNAVAILABLE')
        })
        const calls = [redis.write('a', ['SET', 'a', '2']), redis.run(bump, ['n'], ['1'])]
        await until('writes were refused', async () => {
          const text = String(await server.say('INFO', 'errorstats'))
          return text.includes('READONLY')
        })
        await server.say('REPLICAOF', 'NO', 'ONE')
        assert.deepEqual(await Promise.all(calls), ['OK', 1])
      } finally {
        await server.say('REPLICAOF', 'NO', 'ONE')
      }
    })

    it('does not call a write done that no replica has, when asked to wait for one', async () => {
      const redis = await open({ waitReplicas: { replicas: 1, timeoutMs: 50 } })
      const message = await failsInTime(redis.write('a', ['SET', 'a', '1']), 'UNKNOWN_OUTCOME', AT_ONCE_MS)
      assert.match(message, /0 of 1 replicas/)
      assert.equal(await redis.read('a', ['GET', 'a']), '1')
    })

    it('refuses calls when closed, and ends those on their way', async () => {
      const redis = await open()
      await server.say('CLIENT', 'PAUSE', '200', 'ALL').catch(() => {})
      const waiting = redis.read('a', ['GET', 'a'])
      await redis.close()
      await failsInTime(waiting, 'ENGINE_UNAVAILABLE', AT_ONCE_MS)
      await failsInTime(redis.read('a', ['GET', 'a']), 'CLOSED', AT_ONCE_MS)
      await failsInTime(redis.run(bump, ['n'], ['1']), 'CLOSED', AT_ONCE_MS)
    })

    it('tells version, role and eviction policy, and answers a ping', async () => {
      await server.say('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
      try {
        const redis = await open()
        await redis.ping()
        const { topology, nodes } = await redis.info()
        assert.equal(topology, 'single')
        assert.equal(nodes.length, 1)
        assert.equal(nodes[0]!.address, server.address)
        assert.equal(nodes[0]!.role, 'master')
        assert.equal(nodes[0]!.maxmemoryPolicy, 'allkeys-lru')
        assert.match(nodes[0]!.version!, /^\d+\.\d+/)
      } finally {
        await server.say('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      }
    })
  })

  describe('a server that does not answer', () => {
    it('leaves a write with an unknown outcome and a read unavailable, in time, and is used again', async () => {
      const redis = await open(HASTY)
      server.pause()
      try {
        await Promise.all([
          failsInTime(redis.write('a', ['SET', 'a', '1']), 'UNKNOWN_OUTCOME', IN_TIME_MS),
          failsInTime(redis.read('a', ['GET', 'a']), 'ENGINE_UNAVAILABLE', IN_TIME_MS),
          failsInTime(redis.run(bump, ['n'], ['1']), 'UNKNOWN_OUTCOME', IN_TIME_MS),
          failsInTime(redis.ping(), 'ENGINE_UNAVAILABLE', IN_TIME_MS),
        ])
        // The connection was given up: what comes now is never sent, so a write knows that nothing happened.
        await failsInTime(redis.write('a', ['SET', 'a', '2']), 'ENGINE_UNAVAILABLE', IN_TIME_MS)
        assert.deepEqual(
          (await redis.info()).nodes.map(({ role }) => role),
          [undefined],
        )
      } finally {
        server.resume()
      }
      await until('it is used again', async () => (await redis.read('b', ['GET', 'b'])) === null)
    })

    it('is waited for no longer than the timeout, whatever is asked of it', async () => {
      const redis = await open(HASTY)
      server.pause()
      try {
        const calls = Array.from({ length: 50 }, (_, i) => {
          return failsInTime(redis.read('a', ['GET', `a${i}`]), 'ENGINE_UNAVAILABLE', IN_TIME_MS)
        })
        await Promise.all(calls)
      } finally {
        server.resume()
      }
      await until('it is used again', async () => (await redis.write('b', ['SET', 'b', '1'])) === 'OK')
    })

    it('is given up only when it is silent, not when it is slow', async () => {
      const redis = await open({ commandTimeoutMs: 5000 })
      const id = await redis.read('a', ['CLIENT', 'ID'])
      const nap = () => redis.read('a', ['DEBUG', 'SLEEP', '3'])
      const first = nap()
      // What arrives together is also answered together; the second must come while the first sleeps.
      await new Promise((resolve) => setTimeout(resolve, 30))
      await failsInTime(nap(), 'ENGINE_UNAVAILABLE', AT_ONCE_MS)
      assert.equal(await first, 'OK')
      assert.equal(await redis.read('a', ['CLIENT', 'ID']), id)
    })

    it('lets at most a bounded number of calls wait, and none in a long outage', async () => {
      const redis = await open({ maxWaiting: 10, commandTimeoutMs: 1000 })
      await server.kill()
      try {
        await until('the loss is seen', async () => {
          return isCatracaError(await redis.ping().catch((error: unknown) => error))
        })
        const calls = Array.from({ length: 30 }, () => redis.read('a', ['GET', 'a']))
        const outcomes = calls.map((call) => failsInTime(call, 'ENGINE_UNAVAILABLE', 3000))
        const messages = await Promise.all(outcomes)
        assert.equal(
          messages.filter((message) => message.includes('10 calls are already waiting')).length,
          20,
        )
        await failsInTime(redis.write('a', ['SET', 'a', '1']), 'ENGINE_UNAVAILABLE', 500)
      } finally {
        await server.restart()
      }
      await until('it is used again', async () => (await redis.read('a', ['GET', 'a'])) === null)
    })

    it('may have a bounded number of calls on their way', async () => {
      const redis = await open({ maxInFlight: 5 })
      const calls = await Promise.allSettled(Array.from({ length: 8 }, () => redis.read('a', ['GET', 'a'])))
      assert.equal(calls.filter(({ status }) => status === 'rejected').length, 3)
    })
  })

  describe('lost connections', () => {
    it('cost no read an answer, and leave the outcome of a write unknown at most', async () => {
      const redis = await open({ poolSize: 2 })
      let done = false
      let acknowledged = 0
      let unknown = 0
      const readers = Array.from({ length: 8 }, async () => {
        while (!done) assert.equal(await redis.read('r', ['GET', 'r']), null)
      })
      const writers = Array.from({ length: 8 }, async () => {
        while (!done) {
          try {
            await redis.write('n', ['INCR', 'n'])
            acknowledged++
          } catch (error) {
            assert.ok(isCatracaError(error, 'UNKNOWN_OUTCOME'), String(error))
            unknown++
          }
        }
      })
      for (let i = 0; i < 5; i++) {
        await until('calls run', async () => Number(await server.say('GET', 'n')) > i * 50)
        await server.say('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      }
      done = true
      await Promise.all([...readers, ...writers])
      const stored = Number(await redis.read('n', ['GET', 'n']))
      assert.ok(
        acknowledged <= stored && stored <= acknowledged + unknown,
        `${acknowledged} ${stored} ${unknown}`,
      )
      assert.ok(acknowledged > 100)
    })

    it('end a write that was sent at once, and send a read again', async () => {
      const redis = await open()
      await server.say('CLIENT', 'PAUSE', '60000', 'WRITE')
      const write = redis.write('n', ['INCR', 'n'])
      const ended = failsInTime(write, 'UNKNOWN_OUTCOME', AT_ONCE_MS)
      const blocked = async () => /blocked_clients:[1-9]/.test(String(await server.say('INFO', 'clients')))
      await until('the write has arrived', blocked)
      await server.say('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await ended
      await server.say('CLIENT', 'UNPAUSE')
      const read = redis.read('l', ['BLPOP', 'l', '0'])
      await until('the read has arrived', blocked)
      await server.say('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await until('the read has arrived again', blocked)
      await server.say('RPUSH', 'l', 'x')
      assert.deepEqual(await read, ['l', 'x'])
    })

    it('are told to subscribers, who hear again by themselves', async () => {
      const redis = await open()
      const heard: string[] = []
      const note = (text: string) => heard.push(text)
      const other: string[] = []
      const unsubscribe = await redis.subscribe('wake', note, note)
      await redis.subscribe(
        'wake',
        (text) => other.push(text),
        () => {},
      )
      await redis.subscribe('second', note, () => {})
      await redis.write('wake', ['PUBLISH', 'wake', 'one'])
      await until('the first message is heard', () => heard.length === 1 && other.length === 1)
      await server.say('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until('it hears again', () => heard.at(-1) === 'resumed')
      await redis.write('wake', ['PUBLISH', 'wake', 'two'])
      await redis.write('second', ['PUBLISH', 'second', 'three'])
      await until('the last message is heard', () => heard.at(-1) === 'three')
      assert.deepEqual(heard, ['one', 'lost', 'resumed', 'two', 'three'])
      await unsubscribe()
      await redis.write('wake', ['PUBLISH', 'wake', 'four'])
      await until('only the other hears', () => other.at(-1) === 'four')
      assert.equal(heard.length, 5)
    })

    it('are noticed by subscribers also when nobody closes them', async () => {
      const redis = await open(HASTY)
      const heard: string[] = []
      await redis.subscribe(
        'wake',
        () => {},
        (interruption) => heard.push(interruption),
      )
      server.pause()
      try {
        await until('the silence is noticed', () => heard.length > 0)
      } finally {
        server.resume()
      }
      await until('it hears again', () => heard.at(-1) === 'resumed')
    })
  })

  describe('scripts', () => {
    it('of one turn travel as one call, each with its own answer', async () => {
      const redis = await open()
      await redis.run(bump, ['warm'], ['1'])
      await server.say('CONFIG', 'RESETSTAT')
      const sums = await Promise.all(
        Array.from({ length: 15 }, (_, i) => redis.run(bump, [`n${i % 3}`], ['1'])),
      )
      assert.equal((await commandCounts(server)).get('evalsha'), 1)
      assert.deepEqual(sums.slice(0, 6), [1, 1, 1, 2, 2, 2])
    })

    it('of one turn travel in several calls if they are many, so that both sides work at once', async () => {
      const redis = await open()
      await redis.run(bump, ['warm-many'], ['1'])
      await server.say('CONFIG', 'RESETSTAT')
      const sums = await Promise.all(Array.from({ length: 96 }, () => redis.run(bump, ['many'], ['1'])))
      const calls = (await commandCounts(server)).get('evalsha')!
      assert.ok(calls > 1 && calls <= 6, `${calls} calls`)
      assert.deepEqual(
        sums,
        Array.from({ length: 96 }, (_, i) => i + 1),
      )
    })

    it('keep the failure of one from the others', async () => {
      const redis = await open()
      const outcomes = await Promise.allSettled(
        [['1'], ['bad'], ['2'], ['5', 'then-bad'], ['x'], ['3']].map((args) => redis.run(bump, ['n'], args)),
      )
      const told = outcomes.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
      assert.deepEqual([told[0], told[2], told[5]], [1, 3, 11])
      assert.match(String(told[1]), /Redis refused bump: .*not a number/)
      assert.match(String(told[3]), /ERR as asked/)
      assert.match(String(told[4]), /not an integer/)
    })

    it('are cut at the bound of a batch', async () => {
      const redis = await open({ maxBatch: { items: 10, bytes: 1000 } })
      await redis.run(bump, ['n'], ['0'])
      await server.say('CONFIG', 'RESETSTAT')
      await Promise.all(Array.from({ length: 25 }, () => redis.run(bump, ['n'], ['1'])))
      assert.equal((await commandCounts(server)).get('evalsha'), 3)
      await Promise.all(Array.from({ length: 4 }, () => redis.run(bump, ['n'], ['1', 'x'.repeat(450)])))
      assert.equal((await commandCounts(server)).get('evalsha'), 5)
      assert.equal(await redis.run(bump, ['n'], ['1', 'x'.repeat(5000)]), 30)
    })

    it('are loaded again when the server has forgotten them', async () => {
      const redis = await open()
      assert.equal(await redis.run(bump, ['n'], ['1']), 1)
      await server.say('SCRIPT', 'FLUSH')
      assert.deepEqual(await Promise.all(['1', '1'].map((one) => redis.run(bump, ['n'], [one]))), [2, 3])
    })

    it('are loaded again also behind many other refusals', async () => {
      const redis = await open()
      assert.equal(await redis.run(bump, ['n'], ['1']), 1)
      await server.say('CONFIG', 'SET', 'busy-reply-threshold', '1')
      await server.say('SCRIPT', 'FLUSH')
      const endless = server.say('EVAL', 'while true do end', '0').catch(() => {})
      const isBusy = () =>
        server.say('PING').then(
          () => false,
          (error) => String(error).includes('BUSY'),
        )
      await until('the server is busy', isBusy)
      const answer = redis.run(bump, ['n'], ['1'])
      // Each of these takes the server some milliseconds, and meanwhile the call asks again and again.
      for (let i = 0; i < 200; i++) assert.ok(await isBusy())
      await server.say('SCRIPT', 'KILL')
      assert.equal(await answer, 2)
      await endless
      await server.say('CONFIG', 'SET', 'busy-reply-threshold', '5000')
    })

    it('answer bytes, nothing and tables', async () => {
      const redis = await open()
      const echo = assembleScript('echo', { keys: 0, write: false, uses: ['two-parts'] }, (name) => {
        return name === 'two-parts'
          ? 'return { pair = function(a) return { a, false } end }'
          : `return function(keys, args)
              if args[1] == 'nil' then return nil end
              return two_parts.pair(args[1])
            end`
      })
      const bytes = Buffer.from([255, 0])
      assert.deepEqual(await redis.run(echo, [], [bytes], { binary: true }), [bytes, null])
      assert.equal(await redis.run(echo, [], ['nil']), null)
      assert.deepEqual(await redis.run(echo, [], ['a']), ['a', null])
    })

    it('that are declared to read cannot write', async () => {
      const redis = await open()
      const lying = assembleScript('lying', { keys: 1, write: false }, () => {
        return "return function(keys) return redis.call('SET', keys[1], '1') end"
      })
      await failsInTime(redis.run(lying, ['a'], []), 'INTERNAL', AT_ONCE_MS)
      assert.equal(await redis.read('a', ['GET', 'a']), null)
    })

    it('refuse a wrong number of keys', async () => {
      const redis = await open()
      await failsInTime(redis.run(bump, ['a', 'b'], ['1']), 'INTERNAL', AT_ONCE_MS)
    })
  })
})

describe('redis connection with a password and TLS', () => {
  const password = 'p@ss:word/1'
  const certificates = makeCertificates()
  let servers: RedisServers

  before(async () => {
    servers = await startSingle({ password, tls: certificates })
  })
  after(async () => {
    await servers.stop()
    certificates.remove()
  })

  it('works', async () => {
    const redis = await openRedis(
      { ...servers.url, database: 3 },
      { ...PATIENT_REDIS, tls: { ca: certificates.authority } },
    )
    assert.equal(await redis.write('a', ['SET', 'a', '1']), 'OK')
    assert.equal(await servers.servers[0]!.say('DBSIZE'), 0)
    await redis.close()
  })

  it('tells of a wrong password at once, and does not repeat it', async () => {
    const url = { ...servers.url, password: 'not-the-one' }
    const attempt = openRedis(url, { ...PATIENT_REDIS, tls: { ca: certificates.authority } })
    const message = await failsInTime(attempt, 'ENGINE_UNAVAILABLE', AT_ONCE_MS)
    assert.match(message, /WRONGPASS/)
    assert.doesNotMatch(message, /not-the-one/)
    const { password: _, ...without } = servers.url
    const missing = openRedis(without, { ...PATIENT_REDIS, tls: { ca: certificates.authority } })
    assert.match(await failsInTime(missing, 'ENGINE_UNAVAILABLE', AT_ONCE_MS), /NOAUTH/)
  })

  it('refuses a certificate that nobody confirms, unless told to', async () => {
    const message = await failsInTime(openRedis(servers.url, PATIENT_REDIS), 'ENGINE_UNAVAILABLE', AT_ONCE_MS)
    assert.match(message, /certificate/)
    const redis = await openRedis(servers.url, { ...PATIENT_REDIS, tls: { rejectUnauthorized: false } })
    await redis.ping()
    await redis.close()
  })

  it('fails in time where nobody listens, and names the place', async () => {
    const nodes = [{ host: '127.0.0.1', port: 1 }]
    const attempt = openRedis({ ...servers.url, nodes }, { connectTimeoutMs: 300 })
    assert.match(await failsInTime(attempt, 'ENGINE_UNAVAILABLE', AT_ONCE_MS), /127\.0\.0\.1:1/)
  })

  it('refuses settings that make no sense', async () => {
    await failsInTime(openRedis(servers.url, { commandTimeoutMs: 0 }), 'CONFIG_INVALID', AT_ONCE_MS)
    const waitReplicas = { replicas: 1, timeoutMs: 5000 }
    await failsInTime(openRedis(servers.url, { waitReplicas }), 'CONFIG_INVALID', AT_ONCE_MS)
  })
})
