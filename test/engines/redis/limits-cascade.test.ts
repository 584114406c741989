import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { bucket, cost, of, remaining, ruleOf, view } from '../../../src/conformance/rate-limit/support.js'
import { NOW } from '../../../src/conformance/support.js'
import { CatracaError } from '../../../src/core/errors.js'
import { openRedis } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { RedisLimits } from '../../../src/engines/redis/rate-limit/counters.js'
import { Notices } from '../../../src/engines/redis/rate-limit/notices.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'
import { until } from '../../support/redis/process.js'

/** Subjects that lie in two slots: on one server that pretends, so that what is between the two steps can be chosen. */
let servers: RedisServers
let real: Redis
let notices: Notices
let limits: RedisLimits
/** Asked before each script. */
let onRun: (keys: readonly string[]) => Promise<void> | void

before(async () => {
  servers = await startSingle()
})
after(() => servers.stop())
beforeEach(async () => {
  await servers.flush()
  onRun = () => {}
  real = await openRedis(servers.url, PATIENT_REDIS)
  const apart: Redis = Object.assign(Object.create(real) as Redis, {
    slot: (key: string) => (key.includes('parent') ? 1 : 0),
    run: async (...args: Parameters<Redis['run']>) => {
      await onRun(args[1])
      return real.run(...args)
    },
    subscribe: (...args: Parameters<Redis['subscribe']>) => real.subscribe(...args),
    read: (...args: Parameters<Redis['read']>) => real.read(...args),
  })
  notices = new Notices(apart, 0)
  await notices.open()
  limits = new RedisLimits(apart, notices, 'caller')
})
afterEach(async () => {
  await notices.close()
  await real.close()
})

const child = (amount: number) => of('child', cost('rpm', bucket(10), amount))
const parent = (amount: number) => of('parent', cost('rpm', bucket(15), amount))

describe('two subjects in two slots', () => {
  it('are both told of, whichever denies', async () => {
    await limits.take([child(8), parent(8)], NOW)
    const first = await limits.take([child(3), parent(8)], NOW)
    assert.deepEqual(
      [first.allowed, first.views],
      [false, [[view(2, 48_000, 6000)], [view(7, 32_000, 4000)]]],
    )
    const second = await limits.take([child(2), parent(8)], NOW)
    assert.deepEqual([second.allowed, second.views], [false, [[view(2, 48_000)], [view(7, 32_000, 4000)]]])
    assert.deepEqual(await remaining(limits, child(0)), [2])
    assert.deepEqual(await remaining(limits, parent(0)), [7])
  })

  it('undo each algorithm, and a limit in shadow mode that took nothing', async () => {
    const own = of(
      'child',
      cost('log', ruleOf('sliding-window', 5), 2),
      cost('busy', ruleOf('concurrency', 5), 1),
      cost('fixed', ruleOf('fixed-window', 5), 3),
      cost('about', ruleOf('sliding-window-counter', 5), 4),
      cost('shadow', bucket(3), 2, true),
    )
    await limits.take([of('child', cost('shadow', bucket(3), 2))], NOW)
    await limits.take([parent(15)], NOW)
    assert.equal((await limits.take([own, parent(1)], NOW)).allowed, false)
    assert.deepEqual(await remaining(limits, own), [5, 5, 5, 5, 1])
  })

  it('leave nothing used when the second does not answer', async () => {
    onRun = (keys) => {
      if (keys[0]!.includes('parent')) throw new CatracaError('ENGINE_UNAVAILABLE', 'down')
    }
    await assert.rejects(limits.take([child(4), parent(4)], NOW), { code: 'ENGINE_UNAVAILABLE' })
    onRun = () => {}
    assert.deepEqual(await remaining(limits, child(0)), [10])
    assert.deepEqual(await remaining(limits, parent(0)), [15])
  })

  it('leave the first used until it comes back by itself, when the process dies in between', async () => {
    let reached = false
    onRun = (keys) => {
      if (!keys[0]!.includes('parent')) return
      reached = true
      return new Promise(() => {})
    }
    void limits.take([child(4), parent(4)], NOW)
    await until('the second step was reached', () => reached)
    onRun = () => {}
    assert.deepEqual(await remaining(limits, child(0)), [6])
    assert.deepEqual(await remaining(limits, parent(0)), [15])
    assert.deepEqual(await remaining(limits, child(0), NOW + 24_000), [10])
  })

  it('tell others that were denied meanwhile', async () => {
    const freed: unknown[] = []
    limits.watch((subject) => freed.push(subject))
    await limits.take([parent(15)], NOW)
    await limits.take([child(1), parent(1)], NOW)
    await until('it was told', () => freed.length > 0)
    assert.deepEqual(freed, [{ entity: 'child', resource: 'gpt-4' }])
  })

  it('give a lease back in two steps, and the rest of it after a crash', async () => {
    await limits.take([child(4), parent(4)], NOW)
    const rule = { name: 'rpm', cost: 4, delta: 0 }
    const use = {
      ...{ id: 'one', takenAt: NOW, expiresAt: NOW + 60_000 },
      subjects: [
        { entity: 'child', resource: 'gpt-4', limits: [{ ...rule, rule: bucket(10) }] },
        { entity: 'parent', resource: 'gpt-4', limits: [{ ...rule, rule: bucket(15) }] },
      ],
    }
    onRun = (keys) => {
      if (keys[0]!.includes('parent')) throw new CatracaError('UNKNOWN_OUTCOME', 'gone')
    }
    await assert.rejects(limits.giveBack(use, NOW), { code: 'UNKNOWN_OUTCOME' })
    onRun = () => {}
    assert.equal(await limits.giveBack(use, NOW), 'given-back')
    assert.deepEqual(await remaining(limits, child(0)), [10])
    assert.deepEqual(await remaining(limits, parent(0)), [15])
  })
})
