import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucket, cost, of, remaining, ruleOf } from '../../../src/conformance/rate-limit/support.js'
import { addAll, customer, customers, NOW, newFixa } from '../../../src/conformance/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { openPatiently } from '../../support/patient.js'
import { until } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const redis = oneServer()
const { open, raw } = redis

/** What another program might keep, as commands without the key, and how to see that it is still there. */
const FOREIGN: Record<string, [write: string[], read: string[]]> = {
  string: [
    ['SET', 'theirs'],
    ['GET', ''],
  ],
  list: [
    ['RPUSH', 'theirs'],
    ['LRANGE', '0', '-1'],
  ],
}

async function put(key: string, type: keyof typeof FOREIGN): Promise<() => Promise<void>> {
  const [[verb, value], [look, ...rest]] = FOREIGN[type]!
  await raw(verb!, key, value!)
  const there = () => raw(look!, key, ...rest.filter((word) => word !== ''))
  const before = await there()
  return async () => {
    assert.deepEqual(await there(), before, `${key} is as it was`)
    await raw('DEL', key)
  }
}

/** The call is refused, names the key, and leaves what another program keeps there. */
async function refused(key: string, type: keyof typeof FOREIGN, call: () => Promise<unknown>): Promise<void> {
  const isAsItWas = await put(key, type)
  await assert.rejects(call, (error) => {
    assert.ok(isCatracaError(error, 'STORE_CORRUPT'), `${key}: ${String(error)}`)
    assert.ok(error.message.includes(`the Redis key ${key}`) || error.message.includes(key), error.message)
    assert.match(error.message, /another program/)
    return true
  })
  await isAsItWas()
}

describe('what another program keeps under a key of ours stays, and is refused by name', () => {
  it('limits', async () => {
    const { counters } = (await open()).limits
    const used = of('a', cost('rpm', bucket(5), 1))
    const slots = of('b', cost('rpm', ruleOf('sliding-window', 5), 1))
    for (const type of ['string', 'list'] as const) {
      await refused('ratelimit:a:gpt-4', type, () => counters.take([used], 0))
      await refused('{ratelimit:b:gpt-4}:log', type, () => counters.take([slots], 0))
      // With a parent both are taken from, or neither.
      await refused('{ratelimit:b:gpt-4}:log', type, () => counters.take([used, slots], 0))
    }
    for (const type of ['string', 'list'] as const)
      await refused('ratelimit:a:gpt-4', type, () => counters.reset(used))
    assert.deepEqual(await remaining(counters, used), [5])
  })

  it('guards: no outage, also where they let pass in one', async (t) => {
    const [node] = redis.url().nodes
    const { limits, locks, tokens, close } = await openPatiently({
      store: `redis://${node!.host}:${node!.port}/0`,
      tokens: { onUnavailable: 'allow' },
    })
    t.after(close)
    await limits.setConfig(
      { level: 'system', resource: 'r' },
      { limits: { x: { capacity: 5, refillPeriodSeconds: 60 } }, onUnavailable: 'allow' },
    )
    for (const type of ['string', 'list'] as const) {
      await refused('ratelimit:a:r', type, () => limits.acquire({ entity: 'a', resource: 'r' }))
      await refused('ratelimit:a:r', type, () => limits.reset('a', 'r'))
      await refused('{lock:n}:fence', type, () => locks.acquire('n'))
    }
    // Begins as what is used of one limit does.
    await raw('SET', 'ratelimit:a:r', '\x01theirs')
    for (const call of [() => limits.acquire({ entity: 'a', resource: 'r' }), () => limits.reset('a', 'r')])
      await assert.rejects(call, (error) => isCatracaError(error, 'STORE_CORRUPT'))
    assert.equal(await raw('GET', 'ratelimit:a:r'), '\x01theirs')
    await raw('DEL', 'ratelimit:a:r')
    await refused('lock:n', 'list', () => locks.forceRelease('n'))
    assert.equal((await limits.acquire({ entity: 'a', resource: 'r' })).allowed, true)
    const isAsItWas = await put('{jwt:blacklist}:subjects', 'string')
    await assert.rejects(tokens.isRevoked({ subject: 's' }), (error) =>
      isCatracaError(error, 'STORE_CORRUPT'),
    )
    await isAsItWas()
  })

  it('locks', async () => {
    const { locks } = await open()
    const attempt = { name: 'n', owner: 'me', ttlMs: 60_000, waits: true }
    for (const type of ['string', 'list'] as const) {
      await refused('{lock:n}:fence', type, () => locks.acquire(attempt, NOW))
      assert.equal(await raw('EXISTS', 'lock:n'), 0, 'nobody holds it')
    }
    await refused('{lock:n}:waiting', 'list', () => locks.acquire(attempt, NOW))
    const isAsItWas = await put('lock:n', 'list')
    assert.equal((await locks.acquire(attempt, NOW)).outcome, 'held', 'somebody else has it')
    await isAsItWas()
  })

  it('idempotency', async () => {
    const { idempotency } = await open()
    const key = { operation: 'PAY', key: 'k' }
    const who = { owner: 'me', requestHash: 'h', leaseMs: 1000, lifeMs: 60_000, takesOver: true }
    const [main, state] = ['bridge:idempotency:PAY:k', '{bridge:idempotency:PAY:k}:state']
    await refused(main, 'list', () => idempotency.claim({ key, ...who }, NOW))
    for (const type of ['string', 'list'] as const)
      await refused(state, type, () => idempotency.claim({ key, ...who }, NOW))
    await refused(main, 'list', () => idempotency.remove(key))
    await idempotency.claim({ key, ...who }, NOW)
    const completion = { response: { encoding: 'json', text: '1' } } as const
    const isAsItWas = await put(main, 'list')
    assert.equal(await idempotency.complete(key, 'me', completion, NOW), 'lost')
    await isAsItWas()
  })

  it('codes', async () => {
    const { codes } = await open()
    const key = { channel: 'email', address: 'user@example.com', purpose: '' } as const
    const code = { salt: 's', digest: 'd', lifeMs: 60_000 }
    const name = 'otp:email:user@example.com'
    for (const type of ['string', 'list'] as const) {
      const isAsItWas = await put(name, type)
      await assert.rejects(codes.put(key, code, NOW), (error) => {
        assert.ok(isCatracaError(error, 'STORE_CORRUPT'))
        assert.match(error.message, /otp:email:….*another program/)
        assert.doesNotMatch(error.message, /user@example/)
        return true
      })
      await isAsItWas()
    }
    await raw('HSET', name, 'their', 'code')
    await assert.rejects(codes.put(key, code, NOW))
    await codes.attempt(key, { salt: 's', digests: ['d'], maxAttempts: 3 }, NOW)
    assert.equal(await codes.revoke(key, NOW), false)
    assert.equal(await raw('HGET', name, 'their'), 'code')
  })

  it('tokens: the revocation holds, and the sweep tells of the copy that could not be made', async () => {
    const { tokens } = await open()
    const now = Date.now()
    const expiresAt = now + 60_000
    const revoke = (...ids: string[]) =>
      tokens.revoke(
        ids.map((id) => ({ kind: 'token', id, expiresAt })),
        now,
      )
    await refused('{jwt:blacklist}:log', 'string', () => revoke('a'))
    await refused('{jwt:blacklist}:marks', 'list', () => revoke('a'))
    assert.equal((await tokens.find('a', undefined, now)).isRevoked, false, 'all or nothing')
    const isAsItWas = await put('jwt:blacklist:a', 'list')
    await raw('SET', 'jwt:blacklist:b', 'theirs', 'PX', '10000')
    await revoke('a', 'b', 'c')
    assert.equal((await tokens.find('a', undefined, now)).isRevoked, true)
    assert.equal(await raw('GET', 'jwt:blacklist:b'), 'theirs')
    assert.ok(Number(await raw('PTTL', 'jwt:blacklist:b')) > 30_000, 'for as long as the revocation')
    assert.equal(await raw('GET', 'jwt:blacklist:c'), String(expiresAt))
    await assert.rejects(tokens.sweep(now + 1), /jwt:blacklist:a.*another program/)
    assert.equal(await raw('ZCARD', '{jwt:blacklist}:uncopied'), 1)
    await isAsItWas()
  })

  it('cache: what was loaded is answered, a write is refused, a removal leaves it', async (t) => {
    const reports: string[] = []
    const [node] = redis.url().nodes
    const catraca = await openPatiently({
      store: `redis://${node!.host}:${node!.port}/0`,
      onReport: (message, error) => reports.push(`${message}: ${String(error)}`),
    })
    t.after(() => catraca.close())
    const space = catraca.cache.space<number>({ name: 'numbers', ttlMs: 60_000 })
    const isAsItWas = await put('numbers:a', 'list')
    assert.equal(await space.getOrLoad('a', async () => 7), 7)
    assert.ok(
      reports.some((text) => /numbers:….*another program/.test(text)),
      reports.join(),
    )
    await assert.rejects(space.set('a', 8), (error) => isCatracaError(error, 'STORE_CORRUPT'))
    await space.delete('a')
    // The store is not taken for one that is down.
    await space.set('b', 9)
    assert.equal(await raw('GET', 'numbers:b'), '9')
    await isAsItWas()
  })

  it('allowlists: a member and its entry in the log, or neither', async () => {
    const { allowlists } = await open()
    const list = await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', [customer(1)])
    const keys = ['log', 'attributes', 'expiries', 'unindexed'].map((name) => `{allowlist:a}:${name}`)
    for (const key of keys) {
      const kept = (await raw('DUMP', key)) === null ? undefined : `${key}:kept`
      if (kept !== undefined) await raw('RENAME', key, kept)
      await refused(key, 'string', () => allowlists.members.add('a', customer(2), {}, NOW))
      await refused(key, 'string', () => allowlists.members.remove('a', customer(1), NOW))
      if (kept !== undefined) await raw('RENAME', kept, key)
    }
    assert.equal(await raw('SISMEMBER', 'allowlist:a', customer(2)), 0)
    assert.equal(await raw('SISMEMBER', 'allowlist:a', customer(1)), 1)
    assert.equal((await allowlists.lists.get('a'))?.customerCount, 1)
    assert.equal((await allowlists.members.add('a', customer(2), {}, NOW)).outcome, 'added')
    const part = await allowlists.changes.read(list, [{ sequence: 0, mark: 0 }])
    assert.ok(part !== 'gap')
    assert.equal(part.entries.length, 2, 'one entry for each of both members')
  })
})

describe('a list with a foreign value under one of its keys', () => {
  it('alone is unreadable, by the name of the key; the others of the check are answered', async (t) => {
    const [node] = redis.url().nodes
    const reports: string[] = []
    const catraca = await openPatiently({
      store: `redis://${node!.host}:${node!.port}/0`,
      onReport: (_, error) => reports.push(String(error)),
    })
    t.after(() => catraca.close())
    const { allowlists } = catraca
    for (const id of ['good', 'bad']) {
      await allowlists.create({ id, name: id, type: 'FIXA' })
      await allowlists.add(id, customer(1))
    }
    const strong = { consistency: 'strong' } as const
    const reasons = async (options?: typeof strong) => {
      const { results } = await allowlists.check(customer(1), ['good', 'bad'], options)
      return results.map(({ reason }) => reason)
    }
    const named = (key: string, type: string) => (error: unknown) => {
      assert.ok(error instanceof Error)
      assert.ok(error.message.includes(`the Redis key ${key} holds a string, not a ${type}`), error.message)
      return true
    }
    for (const [key, type, reason] of [
      ['allowlist:bad', 'set', 'ALLOWLIST_UNREADABLE'],
      ['{allowlist:bad}:attributes', 'hash', 'ALLOWLIST_UNREADABLE'],
      ['{allowlist:bad}:meta', 'hash', 'ALLOWLIST_UNREADABLE'],
      ['{allowlist:bad}:state', 'hash', 'MEMBER'],
    ] as const) {
      await raw('RENAME', key, 'kept')
      const isAsItWas = await put(key, 'string')
      // Checks without it may still believe the list that they know.
      assert.deepEqual(await reasons(strong), ['MEMBER', reason], key)
      if (type === 'set' || key.endsWith('attributes')) {
        assert.deepEqual(await reasons(), ['MEMBER', reason])
        const asked = { customerIds: [customer(1), customer(2)], allowlists: ['good', 'bad'] }
        const many = await allowlists.checkMany(asked)
        assert.deepEqual(
          many.results.map(({ results }) => results[1]!.reason),
          [reason, reason],
        )
        const explained = await allowlists.explain(customer(1), ['good', 'bad'])
        assert.deepEqual(
          explained.results.map((result) => result.reason),
          ['MEMBER', reason],
        )
      }
      await assert.rejects(allowlists.remove('bad', customer(1)), named(key, type))
      assert.ok((await allowlists.list()).items.some(({ id }) => id === 'good'))
      await isAsItWas()
      await raw('RENAME', 'kept', key)
      assert.deepEqual(await reasons(strong), ['MEMBER', 'MEMBER'])
    }
    const told = reports.filter((text) => text.includes('the Redis key allowlist:bad holds a string'))
    assert.equal(told.length, 1, 'once a minute')
  })
})

describe('a set that was changed past its log', () => {
  it('is loaded anew: memory and store agree again', async (t) => {
    const [node] = redis.url().nodes
    const catraca = await openPatiently({
      store: `redis://${node!.host}:${node!.port}/0`,
      membership: { build: 'off', compareIntervalMs: 50 },
    })
    t.after(() => catraca.close())
    const { allowlists } = catraca
    await allowlists.create({ id: 'a', name: 'a', type: 'FIXA', precision: 'trusted' })
    for (const id of customers(0, 5)) await allowlists.add('a', id)
    const allowed = async (id: string) => (await allowlists.check(id, ['a'])).overallAllowed
    const build = async () => {
      await allowlists.rebuild('a')
      await until('memory answers', async () => {
        const before = await redis.callsOf('smismember')
        assert.equal(await allowed(customer(10)), false)
        return (await redis.callsOf('smismember')) === before
      })
    }
    await build()
    assert.equal(await allowed(customer(9)), false)
    await raw('SADD', 'allowlist:a', customer(9))
    await until('the new one is let in', () => allowed(customer(9)))
    await build()
    assert.equal(await allowed(customer(1)), true)
    await raw('SREM', 'allowlist:a', customer(1))
    await until('the old one is kept out', async () => !(await allowed(customer(1))))
    const count = () => raw('HGET', '{allowlist:a}:state', 'count')
    await until('the log has told of it', async () => (await count()) === '5')
  })
})
