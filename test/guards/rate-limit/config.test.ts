import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { until } from '../../../src/conformance/support.js'
import { parseLevelConfig } from '../../../src/guards/rate-limit/level-config.js'
import { resolve } from '../../../src/guards/rate-limit/resolve.js'
import type { Limit } from '../../../src/guards/rate-limit/types.js'
import { DICT_LIMITS } from '../../../src/index.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const full = { capacity: 10, refillAmount: 10, refillPeriodSeconds: 60 }
const defaults = { onUnavailable: 'block', autoUpdate: false, strictVersion: false } as const
const subject = { entity: 'user-1', resource: 'gpt-4' }

describe('resolution', () => {
  it('is entity over resource over system over defaults, field by field, and names the level', () => {
    const resolved = resolve(
      subject,
      [
        { level: 'entity', config: { limits: { tpm: { capacity: 500 } } } },
        {
          level: 'resource',
          config: { limits: { tpm: { capacity: 50, burst: 60 } }, onUnavailable: 'allow' },
        },
        {
          level: 'system',
          config: { limits: { tpm: full, rpm: full }, onUnavailable: 'block', strictVersion: true },
        },
        { level: 'defaults', config: { limits: { rpm: { mode: 'shadow', burst: 30 } } } },
      ],
      defaults,
    )!
    assert.deepEqual(resolved.limits.tpm, {
      capacity: 500,
      burst: 500,
      refillAmount: 10,
      refillPeriodSeconds: 60,
      algorithm: 'token-bucket',
      mode: 'enforce',
    })
    assert.deepEqual(resolved.levels.limits.tpm, {
      capacity: 'entity',
      burst: 'resource',
      refillAmount: 'system',
      refillPeriodSeconds: 'system',
      algorithm: 'defaults',
      mode: 'defaults',
    })
    assert.deepEqual([resolved.limits.rpm!.mode, resolved.limits.rpm!.burst], ['shadow', 30])
    assert.deepEqual(
      [
        resolved.onUnavailable,
        resolved.levels.onUnavailable,
        resolved.strictVersion,
        resolved.levels.strictVersion,
      ],
      ['allow', 'resource', true, 'system'],
    )
    assert.deepEqual([resolved.autoUpdate, resolved.levels.autoUpdate], [false, 'defaults'])
  })

  it('caps what is inherited for a larger capacity, and marks it', () => {
    const large = { capacity: 40_000, burst: 50_000, refillAmount: 40_000, refillPeriodSeconds: 60 }
    const resolved = (entity: Limit, resource: Limit = large, system: Limit = {}) => {
      const layers = [
        { level: 'entity', config: { limits: { tpm: entity } } },
        { level: 'resource', config: { limits: { tpm: resource } } },
        { level: 'system', config: { limits: { tpm: system } } },
      ] as const
      const { limits, capped } = resolve(subject, layers, defaults)!
      const { capacity, burst, refillAmount } = limits.tpm!
      return [capacity, burst, refillAmount, capped?.tpm]
    }
    const by = 'entity' as const
    const both = { burst: { stated: 50_000, by }, refillAmount: { stated: 40_000, by } }
    assert.deepEqual(resolved({ capacity: 5 }), [5, 5, 5, both])
    // What the level states itself is no concern of the cap.
    assert.deepEqual(resolved({ capacity: 5, burst: 9 }), [5, 9, 5, { refillAmount: both.refillAmount }])
    assert.deepEqual(resolved({ capacity: 5, refillAmount: 7 }), [5, 5, 7, { burst: both.burst }])
    // A higher capacity raises neither; a bucket holds at least its capacity.
    assert.deepEqual(resolved({ capacity: 60_000 }), [60_000, 60_000, 40_000, undefined])
    assert.deepEqual(resolved({ capacity: 40_000 }), [40_000, 50_000, 40_000, undefined])
    assert.deepEqual(resolved({ burst: 70_000 }), [40_000, 70_000, 40_000, undefined])
    // Capped on the way, and raised again: the cap stays.
    const lowered = { stated: 40_000, by: 'resource' as const }
    assert.deepEqual(resolved({ capacity: 50 }, { capacity: 10 }, large), [
      50,
      50,
      10,
      { burst: { ...lowered, stated: 50_000 }, refillAmount: lowered },
    ])
    // What nobody states follows the capacity.
    assert.deepEqual(resolved({ capacity: 5 }, { capacity: 10, refillPeriodSeconds: 60 }), [
      5,
      5,
      5,
      undefined,
    ])
  })

  it('has an exact resource beat the default for all resources, which never loosens it', () => {
    const all = { capacity: 1000, burst: 5000, refillAmount: 1000, refillPeriodSeconds: 1 }
    const login = { capacity: 5, refillPeriodSeconds: 60 }
    const limitOf = (entityAll: Limit, system: Limit | undefined, systemAll: Limit = all) => {
      const layers = [
        { level: 'system', config: system && { limits: { rpm: system } } },
        { level: 'entity:*', config: { limits: { rpm: entityAll } } },
        { level: 'system:*', config: { limits: { rpm: systemAll } } },
      ] as const
      return resolve(subject, layers, defaults)!.limits.rpm
    }
    const tight = {
      ...{ capacity: 5, burst: 5, refillAmount: 5, refillPeriodSeconds: 60 },
      ...{ algorithm: 'token-bucket', mode: 'enforce' },
    }
    assert.deepEqual(limitOf(all, login), tight)
    assert.deepEqual(limitOf({ burst: 9000, refillAmount: 9000 }, login, {}), tight)
    assert.deepEqual(limitOf({ mode: 'shadow', algorithm: 'concurrency' }, login), tight)
    // What the resource does not say comes from there, from the entity first.
    assert.deepEqual(limitOf({ refillPeriodSeconds: 30 }, { capacity: 5 }), {
      ...tight,
      refillPeriodSeconds: 30,
    })
    assert.equal(limitOf({ capacity: 7 }, undefined)!.capacity, 7)
    assert.equal(limitOf({ mode: 'shadow' }, { burst: 2000 })!.mode, 'shadow')
  })

  it('knows when nothing, or not enough, is said', () => {
    assert.equal(
      resolve(subject, [{ level: 'system', config: { limits: {}, onUnavailable: 'allow' } }], defaults),
      undefined,
    )
    const lacking = [{ level: 'system', config: { limits: { rpm: { capacity: 5 } } } }] as const
    assert.throws(() => resolve(subject, lacking, defaults), { code: 'LIMIT_INCOMPLETE' })
  })
})

describe('what a level says', () => {
  it('is refused where it is wrong, with every mistake', () => {
    const wrong = {
      limits: { rpm: { capacity: 0, burst: 1.5, speed: 3 }, tpm: { capacity: 5, burst: 4 } },
      onUnavailable: 'maybe',
    }
    assert.throws(
      () => parseLevelConfig('system', wrong),
      (error: { code: string; errors: { path: string }[] }) => {
        assert.equal(error.code, 'INVALID_INPUT')
        const paths = error.errors.map(({ path }) => path).sort()
        assert.deepEqual(paths, [
          'limits.rpm.burst',
          'limits.rpm.capacity',
          'limits.rpm.speed',
          'limits.tpm.burst',
          'onUnavailable',
        ])
        return true
      },
    )
    const refused = (level: 'system' | 'resource', config: unknown) =>
      assert.throws(() => parseLevelConfig(level, config), { code: 'INVALID_INPUT' })
    refused('resource', { limits: { rpm: full }, strictVersion: true })
    refused('system', { limits: { 'a:b': full } })
    refused('system', { limits: JSON.parse('{"__proto__":{"capacity":1}}') })
    refused('system', { limits: [] })
    refused('system', {})
    refused('system', undefined)
    assert.deepEqual(parseLevelConfig('resource', { onUnavailable: 'allow' }), {
      limits: {},
      onUnavailable: 'allow',
    })
  })

  it('can be the presets of the DICT documents', () => {
    for (const config of Object.values(DICT_LIMITS))
      assert.deepEqual(parseLevelConfig('system', config), config)
    const limits = (name: 'CreateEntry' | 'CreateClaim') =>
      Object.values(DICT_LIMITS[name].limits).map(({ capacity, refillPeriodSeconds }) => [
        capacity,
        refillPeriodSeconds,
      ])
    assert.deepEqual(limits('CreateEntry'), [
      [100, 60],
      [1000, 3600],
    ])
    assert.deepEqual(limits('CreateClaim'), [
      [50, 60],
      [500, 3600],
    ])
    assert.equal(DICT_LIMITS.GetEntry.limits.perMinute!.capacity, 500)
  })
})

describe('configuration of an instance', () => {
  const open = async (t: TestContext, store: string) => {
    const catraca = await openPatiently({ store, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    return catraca.limits
  }

  it('is kept, resolved, deleted, and reaches live buckets', async (t) => {
    const limits = await open(t, 'memory:')
    const address = { level: 'entity', identifier: 'user-1', resource: 'gpt-4' } as const
    await assert.rejects(limits.resolveConfig('user-1', 'gpt-4'), { code: 'LIMIT_NOT_CONFIGURED' })
    await limits.setConfig(
      { level: 'system', resource: 'gpt-4' },
      { limits: { rpm: { ...full, refillPeriodSeconds: 3600 } } },
    )
    await limits.acquire({ ...subject, consume: { rpm: 10 } })
    assert.equal((await limits.acquire(subject)).allowed, false)
    await limits.setConfig(address, { limits: { rpm: { capacity: 15 } } })
    assert.equal((await limits.acquire({ ...subject, consume: { rpm: 5 } })).allowed, true)
    assert.equal((await limits.resolveConfig('user-1', 'gpt-4')).levels.limits.rpm!.capacity, 'entity')
    assert.deepEqual(await limits.getConfig(address), { limits: { rpm: { capacity: 15 } } })
    assert.equal(await limits.deleteConfig(address), true)
    assert.equal(await limits.deleteConfig(address), false)
    assert.equal(await limits.getConfig(address), undefined)
    assert.equal((await limits.acquire(subject)).allowed, false)
    await assert.rejects(
      limits.setConfig({ level: 'system', identifier: 'x', resource: 'r' } as never, { limits: {} }),
      { code: 'INVALID_INPUT' },
    )
  })

  it('takes an entity by either name, and not two of them', async (t) => {
    const limits = await open(t, 'memory:')
    const config = { limits: { rpm: full } }
    const at = { level: 'entity', resource: 'r' } as const
    await limits.setConfig({ ...at, entity: 'ann' }, config)
    assert.deepEqual(await limits.getConfig({ ...at, identifier: 'ann' }), config)
    assert.deepEqual(await limits.getConfig({ ...at, entity: 'ann', identifier: 'ann' }), config)
    const refused = (address: object, path: RegExp) =>
      assert.rejects(limits.setConfig({ ...at, ...address } as never, config), {
        code: 'INVALID_INPUT',
        message: path,
      })
    await refused({ entity: 'ann', identifier: 'bob' }, /^identifier /)
    await refused({ level: 'system', entity: 'ann' }, /^entity /)
    await refused({}, /^entity /)
    assert.equal(await limits.deleteConfig({ ...at, entity: 'ann' }), true)
  })

  it('has a default for all resources, on the system and the entity level', async (t) => {
    const limits = await open(t, 'memory:')
    const rpm = (capacity: number) => ({ limits: { rpm: { capacity, refillPeriodSeconds: 3600 } } })
    const holds = async (entity: string, resource: string) => {
      const answer = await limits.acquire({ entity, resource, consume: {} })
      return answer.limits.rpm!.limit
    }
    await assert.rejects(holds('ann', 'anything'), { code: 'LIMIT_NOT_CONFIGURED' })
    await limits.setConfig({ level: 'system', resource: '*' }, rpm(100))
    assert.equal(await holds('ann', 'anything'), 100)
    await limits.setConfig({ level: 'system', resource: 'login' }, rpm(5))
    await limits.setConfig({ level: 'entity', identifier: 'ann', resource: '*' }, rpm(1000))
    assert.deepEqual(
      [await holds('ann', 'anything'), await holds('bob', 'anything'), await holds('ann', 'login')],
      [1000, 100, 5],
    )
    await limits.setConfig({ level: 'entity', identifier: 'ann', resource: 'login' }, rpm(7))
    assert.equal(await holds('ann', 'login'), 7)
    assert.equal((await limits.resolveConfig('ann', 'other')).levels.limits.rpm!.capacity, 'entity:*')
    assert.equal((await limits.resolveConfig(undefined, 'login')).limits.rpm!.capacity, 5)
    assert.equal((await limits.resolveConfig(undefined, '*')).limits.rpm!.capacity, 100)
    assert.deepEqual(
      (await limits.listConfigs({ level: 'system' })).items.map((one) => one.resource).sort(),
      ['*', 'login'],
    )
    await limits.deleteConfig({ level: 'entity', identifier: 'ann', resource: '*' })
    assert.equal(await holds('ann', 'anything'), 100)
    await limits.setConfig({ level: 'system', resource: '*' }, rpm(50))
    assert.equal(await holds('ann', 'anything'), 50)
    for (const address of [
      { level: 'resource', resource: '*' },
      { level: 'system', resource: '_default_' },
      { level: 'entity', identifier: 'ann', resource: '_default_' },
    ] as const) {
      await assert.rejects(limits.setConfig(address, rpm(1)), {
        code: 'INVALID_INPUT',
        message: /^resource /,
      })
    }
    await assert.rejects(limits.acquire({ entity: 'ann', resource: '_default_' }), { code: 'INVALID_INPUT' })
    await assert.rejects(limits.acquire({ entity: 'ann', resource: '*' }), { code: 'INVALID_INPUT' })
  })

  it('is refused where it cannot be counted, also together with the levels below', async (t) => {
    const limits = await open(t, 'memory:')
    const system = { level: 'system', resource: 'r' } as const
    const set = (address: object, limit: object) =>
      limits.setConfig(address as typeof system, { limits: { x: limit } })
    const refused = { code: 'INVALID_INPUT', message: /^limits\.x / }
    const large = { capacity: 20_000, refillPeriodSeconds: 60 }
    await assert.rejects(set(system, { ...large, algorithm: 'sliding-window' }), refused)
    assert.equal(await limits.getConfig(system), undefined)
    await set(system, { ...large, algorithm: 'sliding-window', capacity: 5000 })
    const entity = { level: 'entity', identifier: 'a', resource: 'r' }
    await assert.rejects(set(entity, { capacity: 20_000 }), refused)
    await set({ level: 'resource', resource: 'r' }, { algorithm: 'fixed-window' })
    await set(entity, { capacity: 20_000 })
    await set({ ...entity, resource: 'incomplete' }, { capacity: 20_000 })
  })

  it('begins with defaults that are checked like a level', async () => {
    const limits = { r: { x: { capacity: -5, refillPeriodSeconds: 60 } } }
    const wrong = openPatiently({ store: 'memory:', limits: { defaults: { limits } } })
    await assert.rejects(wrong, { code: 'INVALID_INPUT', message: /^limits\.x\.capacity / })
  })

  it('is seen by other instances within a second', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const [one, two] = [await open(t, store), await open(t, store)]
    await one.setConfig(
      { level: 'resource', resource: 'gpt-4' },
      { limits: { rpm: { ...full, refillPeriodSeconds: 3600 } } },
    )
    assert.equal((await two.acquire({ ...subject, consume: { rpm: 10 } })).allowed, true)
    assert.equal((await one.acquire(subject)).allowed, false)
    await one.setConfig(
      { level: 'resource', resource: 'gpt-4' },
      { limits: { rpm: { ...full, capacity: 99 } } },
    )
    await until('the change is seen', async () => (await two.acquire(subject)).allowed)
  })
})
