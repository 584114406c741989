import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucket, cost, lease, of, remaining, ruleOf } from '../../../src/conformance/rate-limit/support.js'
import { ALGORITHMS } from '../../../src/guards/rate-limit/rule.js'
import { decidesAlike } from '../../support/random-limits.js'
import { until } from '../../support/redis/process.js'
import { oneServer } from '../../support/redis-engines.js'

const redis = oneServer()
const START = 1_900_000_000_000

async function keys(): Promise<string[]> {
  return ((await redis.raw('KEYS', '*')) as string[]).sort()
}

describe('what Lua decides', () => {
  for (const algorithm of ALGORITHMS) {
    it(`is what TypeScript decides: ${algorithm}, in any order of calls, clocks and rules`, async () => {
      const { counters } = (await redis.open({ limitClock: 'caller' })).limits
      for (let seed = 1; seed <= 12; seed++) await decidesAlike([counters], algorithm, seed)
    })
  }

  it('is what TypeScript decides also when a limit gets another algorithm', async () => {
    const { counters } = (await redis.open({ limitClock: 'caller' })).limits
    for (let seed = 1; seed <= 12; seed++) await decidesAlike([counters], undefined, seed)
  })
})

describe('the keys of limits', () => {
  it('are those of the sources, and all expire but configuration', async () => {
    const { limits } = await redis.open()
    const subject = of(
      'ispb:00000000',
      cost('rpm', bucket(5), 1),
      cost('log', ruleOf('sliding-window', 5), 1),
    )
    const { at } = await limits.counters.take([subject], 0)
    await limits.counters.giveBack({ ...lease([subject], {}, at), id: 'lease' }, 0)
    await limits.counters.take([subject], 0)
    const row = 'ratelimit:ispb%3A00000000:gpt-4'
    const expiring = [row, `{${row}}:lease:lease`, `{${row}}:log`]
    const found = (await keys()).filter((key) => key.includes('00000000'))
    assert.deepEqual(found, expiring.sort())
    for (const key of expiring) assert.ok(Number(await redis.raw('PTTL', key)) > 0, key)
    const ttlMs = Number(await redis.raw('PTTL', row))
    assert.ok(ttlMs > 10_000 && ttlMs <= 75_000, `a window of a minute is kept for ${ttlMs} ms`)
  })

  it('live on when more is used', async () => {
    const { counters } = (await redis.open()).limits
    await counters.take([of('a', cost('rpm', bucket(60), 1))], 0)
    await counters.take([of('a', cost('rpm', bucket(60), 40))], 0)
    const ttlMs = Number(await redis.raw('PTTL', 'ratelimit:a:gpt-4'))
    assert.ok(ttlMs > 35_000 && ttlMs < 55_000, `${ttlMs} ms`)
  })

  it('of usage are one for each resource and hour, whoever comes', async () => {
    const { usage } = (await redis.open()).limits
    for (let i = 0; i < 50; i++) {
      const uses = Array.from({ length: 20 }, (_, n) => {
        return { entity: `stranger:${i}:${n}`, limit: 'rpm', admitted: 1, denied: 0 }
      })
      const totals = [{ limit: 'rpm', admitted: 20, denied: 0 }]
      const start = START + (i % 2) * 3_600_000
      await usage.count([{ resource: 'r', start, totals, entities: uses }], { entities: 20, ms: 86_400_000 })
    }
    const found = (await keys()).filter((key) => key.includes('usage'))
    assert.deepEqual(found, [`{ratelimit:usage:r}:${START}`, `{ratelimit:usage:r}:${START + 3_600_000}`])
    for (const key of found) {
      assert.ok(Number(await redis.raw('PTTL', key)) > 86_400_000)
      assert.ok(Number(await redis.raw('HLEN', key)) <= 41)
      assert.ok(Number(await redis.raw('MEMORY', 'USAGE', key)) < 4000)
    }
  })

  it('go with what they count', async () => {
    const { counters } = (await redis.open()).limits
    const short = of(
      'short',
      cost('rps', ruleOf('fixed-window', 5, 1), 1),
      cost('log', ruleOf('concurrency', 5, 1), 1),
    )
    await counters.take([short], 0)
    await until('both keys are gone', async () => !(await keys()).some((key) => key.includes('short')), 4000)
  })

  it('are gone when everything was given back', async () => {
    const { counters } = (await redis.open()).limits
    const subject = of('a', cost('rpm', bucket(5), 3), cost('log', ruleOf('sliding-window', 5), 2))
    const { at } = await counters.take([subject], 0)
    assert.equal(await counters.giveBack({ ...lease([subject], {}, at), id: 'back' }, 0), 'done')
    const row = 'ratelimit:a:gpt-4'
    assert.deepEqual(
      (await keys()).filter((key) => key.includes(row)),
      [`{${row}}:lease:back`],
    )
  })

  it('cannot be forged by names', async () => {
    const { counters, configs } = (await redis.open()).limits
    await counters.take([{ ...of('config', cost('x', bucket(5), 1)), resource: 'notices' }], 0)
    await configs.write({ level: 'entity', entity: 'a:b', resource: 'c' }, { limits: {} })
    await configs.writeEntity('a:b:c', { parent: 'p', cascade: true })
    assert.deepEqual(await redis.raw('HKEYS', 'ratelimit:config'), ['entity:a%3Ab:c', 'parent:a:b:c'])
    assert.equal(await redis.raw('TYPE', 'ratelimit:config:notices'), 'string')
  })
})

describe('the clock of limits', () => {
  it('is that of the server, whatever a process believes', async () => {
    const engines = [await redis.open(), await redis.open()]
    const one = of('a', cost('rpm', bucket(60), 60))
    const [seconds] = (await redis.raw('TIME')) as [string]
    const taken = await engines[0]!.limits.counters.take([one], Date.now() + 60_000)
    assert.ok(Math.abs(taken.at / 1000 - Number(seconds)) < 5)
    const late = await engines[1]!.limits.counters.take([one], Date.now() - 60_000)
    assert.equal(late.allowed, false)
    const wait = late.views[0]![0]!.retryAfterMs
    assert.ok(wait > 55_000 && wait <= 60_000, `${wait} ms`)
  })

  it('refuses a lease that has run out, so that it cannot be given back once more', async () => {
    const { counters } = (await redis.open()).limits
    const subject = of('a', cost('rpm', bucket(60), 60))
    const { at } = await counters.take([subject], 0)
    const over = { ...lease([subject], {}, at), expiresAt: at }
    assert.equal(await counters.giveBack(over, 0), 'expired')
    assert.deepEqual(await remaining(counters, subject), [0])
  })
})

describe('calls of one turn', () => {
  it('travel together, in batches of 16 to 32', async () => {
    const { counters } = (await redis.open()).limits
    await counters.take([of('warm', cost('rpm', bucket(5), 1))], 0)
    const before = await redis.callsOf('evalsha')
    const asked = Array.from({ length: 96 }, (_, i) => of(`user-${i}`, cost('rpm', bucket(5), 1)))
    const answers = await Promise.all(asked.map((one) => counters.take([one], 0)))
    assert.ok(answers.every(({ allowed }) => allowed))
    const batches = (await redis.callsOf('evalsha')) - before
    assert.ok(batches >= 3 && batches <= 6, `${batches} batches`)
  })

  it('share what they ask for, and each has its own answer, or its own failure', async () => {
    const { counters } = (await redis.open()).limits
    await redis.raw('RPUSH', 'ratelimit:broken-1:gpt-4', 'of another program')
    await redis.raw('RPUSH', 'ratelimit:broken-2:gpt-4', 'of another program')
    const one = [cost('rpm', bucket(5), 1)]
    const two = [cost('rpm', bucket(5), 2), cost('tpm', bucket(9), 3)]
    const asked = [
      ...[of('broken-1', ...one), of('whole-1', ...one), of('whole-1', ...one), of('whole-2', ...two)],
      ...[of('broken-2', ...two), of('whole-2', ...two), of('whole-2', ...two), of('whole-3', ...one)],
    ]
    const answers = await Promise.allSettled(asked.map((subject) => counters.take([subject], 0)))
    const told = answers.map((answer) =>
      answer.status === 'rejected'
        ? /ratelimit:broken-\d:gpt-4 holds a list/.test(String(answer.reason))
        : [answer.value.allowed, ...answer.value.views[0]!.map((view) => view.remaining)],
    )
    assert.deepEqual(told, [
      ...[true, [true, 4], [true, 3], [true, 3, 6]],
      ...[true, [true, 1, 3], [false, 1, 3], [true, 4]],
    ])
  })

  it('take both subjects in one step on one server', async () => {
    const { counters } = (await redis.open()).limits
    const child = of('child', cost('rpm', bucket(5), 1))
    const parent = of('parent', cost('rpm', ruleOf('concurrency', 1), 1))
    await counters.take([child, parent], 0)
    const before = await redis.callsOf('evalsha')
    assert.equal((await counters.take([child, parent], 0)).allowed, false)
    assert.equal((await redis.callsOf('evalsha')) - before, 1)
    assert.deepEqual(await remaining(counters, child), [4])
  })
})

describe('notices', () => {
  it('tell which configuration changed, and which subject was freed', async () => {
    const [one, two] = [await redis.open(), await redis.open()]
    const heard: unknown[] = []
    two.limits.configs.watch((key) => heard.push(key))
    two.limits.counters.watch((freed) => heard.push(freed))
    const key = { level: 'entity', entity: 'a:b', resource: 'r' } as const
    await one.limits.configs.write(key, { limits: {} })
    await one.limits.counters.reset({ entity: 'a:b', resource: 'r' })
    await until('both were heard', () => heard.length === 2)
    assert.deepEqual(heard, [key, { entity: 'a:b', resource: 'r' }])
  })

  it('that were missed void everything, within about a second', async () => {
    const { limits } = await redis.open()
    const heard: unknown[] = []
    limits.configs.watch((key) => heard.push(key))
    limits.counters.watch((freed) => heard.push(freed))
    await redis.raw('INCR', '{ratelimit:config}:notices')
    await until('both were heard', () => heard.length === 2, 2500)
    assert.deepEqual(heard, [undefined, undefined])
  })

  it('of a store that was emptied are heard though their numbers were heard before', async () => {
    const [one, two] = [await redis.open(), await redis.open()]
    const secret = await one.limits.configs.secret('a'.repeat(43))
    const heard: unknown[] = []
    two.limits.configs.watch((key) => heard.push(key))
    const key = { level: 'system', resource: 'r' } as const
    await one.limits.configs.write(key, { limits: {} })
    await until('it was heard', () => heard.length === 1)
    await redis.raw('FLUSHALL')
    await one.limits.configs.write(key, { limits: {} })
    await until('that all may have changed', () => heard.length === 2 && heard[1] === undefined, 2500)
    await until('the secret is kept again', async () => {
      return (await redis.raw('GET', '{ratelimit:config}:secret')) === secret
    })
  })

  it('of a slot that came back are not sent: nobody remembers that there was none', async () => {
    const { counters } = (await redis.open()).limits
    const subject = of('a', cost('busy', ruleOf('concurrency', 1), 1))
    const { at } = await counters.take([subject], 0)
    await counters.giveBack(lease([subject], {}, at), 0)
    assert.equal(await redis.raw('GET', '{ratelimit:config}:notices'), null)
  })
})
