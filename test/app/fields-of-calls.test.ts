import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { CHECKED_CALLS } from '../../src/app/fields-of-calls.js'
import { nearestName } from '../../src/core/fields.js'
import {
  adoptLists,
  type Catraca,
  CatracaError,
  idempotentConsumer,
  isCatracaError,
  type OpenOptions,
  openCatraca,
  openDynamodbTables,
  startRelay,
} from '../../src/index.js'
import { startServer } from '../../src/server/index.js'

type Calls = Record<string, Record<string, { needed?: object; optional?: object; each?: object }> | string>
type Methods = Record<string, (...args: unknown[]) => unknown>

let catraca: Catraca
let guards: Record<string, Methods>
before(async () => {
  catraca = await openCatraca({ store: 'memory:', sweepIntervalMs: 0 })
  const { allowlists, keys, limits, idempotency, codes, tokens, locks, cache, audit } = catraca
  const space = cache.space({ name: 'prices', ttlMs: 1000 })
  const all = { allowlists, keys, limits, idempotency, codes, tokens, locks, cache, audit, space }
  guards = all as unknown as Record<string, Methods>
})
after(() => catraca.close())

/** Every call that returns a promise. */
function callsOf(guard: string): Calls {
  const all = Object.entries(CHECKED_CALLS[guard as keyof typeof CHECKED_CALLS] as Calls)
  return Object.fromEntries(all.filter(([, rules]) => rules !== 'plain'))
}

const isUnknown =
  (path: string, message = /is unknown/) =>
  (error: unknown): boolean =>
    isCatracaError(error, 'INVALID_INPUT') && error.errors?.[0]?.path === path && message.test(error.message)

describe('every call of every guard', () => {
  it('that is typed as a promise rejects, whatever it is given, and never throws', async () => {
    const thorny = new Proxy(
      {},
      {
        get: () => {
          throw new Error('do not touch')
        },
      },
    )
    const arguments_ = [
      [],
      [undefined, {}],
      [null, null, null],
      [Symbol('x')],
      ['a b', 7n, 'c'],
      [thorny, thorny],
    ]
    for (const [name, guard] of Object.entries(guards)) {
      for (const method of Object.keys(callsOf(name))) {
        if (method === 'close') continue
        for (const given of arguments_) {
          let answer: unknown
          assert.doesNotThrow(() => {
            answer = guard[method]!(...given)
          }, `${name}.${method}`)
          assert.ok(answer instanceof Promise, `${name}.${method}`)
          await answer.catch(() => {})
        }
      }
    }
  })

  it('refuses fields that it does not know', async () => {
    for (const [name, guard] of Object.entries(guards)) {
      for (const [method, rules] of Object.entries(callsOf(name))) {
        if (typeof rules === 'string') continue
        for (const [place, { needed, each }] of Object.entries(rules)) {
          const args: unknown[] = Array.from({ length: Number(place) }, () => ({}))
          const wrong = { zzz: 1 }
          const path = each === undefined ? 'zzz' : '[0].zzz'
          const call = guard[method]!(...args, each === undefined ? wrong : [wrong]) as Promise<unknown>
          await assert.rejects(call, isUnknown(path), `${name}.${method}`)
          if (needed === undefined) continue
          const without = guard[method]!(...args) as Promise<unknown>
          await assert.rejects(
            without,
            (error) => isCatracaError(error, 'INVALID_INPUT'),
            `${name}.${method}`,
          )
        }
      }
    }
    const { limits, cache, tokens, allowlists } = catraca
    await assert.rejects(allowlists.check('ann', ['vip'], { strong: true } as never), isUnknown('strong'))
    for (const call of [
      () => limits.acquire(undefined as never),
      () => tokens.isRevoked(undefined as never),
    ]) {
      await assert.rejects(call(), (error) => isCatracaError(error, 'INVALID_INPUT'))
    }
    const acquire = { entity: 'ann', resource: 'api' }
    await assert.rejects(
      limits.acquire({ ...acquire, cost: 3 } as never),
      isUnknown('cost', /there is entity/),
    )
    await assert.rejects(
      limits.acquire({ ...acquire, consumes: {} } as never),
      isUnknown('consumes', /mean consume\?/),
    )
    assert.throws(() => limits.topDenied({ resurce: 'api' } as never), isUnknown('resurce'))
    const space = cache.space({ name: 'rates', ttlMs: 1000 })
    await assert.rejects(
      space.getOrLoad('a', () => 1, { ttl: 5 } as never),
      isUnknown('ttl', /mean ttlMs\?/),
    )
    assert.throws(
      () => cache.space({ name: 'x', ttlMs: 5, l1: { maxEntry: 5 } } as never),
      isUnknown('l1.maxEntry'),
    )
    await assert.rejects(tokens.isRevoked({ JTI: 'a' } as never), isUnknown('JTI', /mean jti\?/))
    const policy = { operation: 'A', key: 'b', ending: { ofvalue: () => 'fail' } }
    await assert.rejects(
      catraca.idempotency.run(policy as never, () => 1),
      isUnknown('ending.ofvalue'),
    )
  })
})

describe('openCatraca', () => {
  it('refuses options that it does not know, by the name that was meant', async () => {
    const wrong: [object, string, RegExp][] = [
      [{ Store: 'memory:' }, 'Store', /did you mean store\?/],
      [{ store: 'memory:', limits: { timeout: 5 } }, 'limits.timeout', /did you mean timeoutMs\?/],
      [{ store: 'memory:', redis: { tls: { CA: '' } } }, 'redis.tls.CA', /did you mean ca\?/],
      [{ store: 'memory:', constructor: 1 }, 'constructor', /there is store/],
    ]
    for (const [options, path, message] of wrong) {
      const opening = openCatraca(options as OpenOptions).then((opened) => opened.close())
      await assert.rejects(opening, isUnknown(path, message), path)
    }
  })

  it('refuses spaces of a cache that are no list, by their name', async () => {
    const cache = { spaces: {} } as never
    const refused = { code: 'INVALID_INPUT', message: /^cache\.spaces / }
    await assert.rejects(openCatraca({ store: 'memory:', cache }), refused)
  })

  it('finds the name that was meant, and none where nothing is near', () => {
    const names = ['ttlMs', 'waitMs', 'signal', 'autoExtend']
    const meant = ['TTLMS', 'tlMs', 'watiMs', 'singal', 'autoextends', 'x', 'lifetime'].map((name) =>
      nearestName(name, names),
    )
    assert.deepEqual(meant, ['ttlMs', 'ttlMs', 'waitMs', 'signal', 'autoExtend', undefined, undefined])
  })
})

describe('a call that is aborted', () => {
  const isAborted =
    (cause: unknown) =>
    (error: unknown): boolean =>
      isCatracaError(error, 'ABORTED') && error.cause === cause

  it('rejects with ABORTED in every guard, and begins nothing', async () => {
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    const record = { operation: 'PAY', key: 'k1' }
    await catraca.limits.setConfig(
      { level: 'system', resource: 'api' },
      { limits: { rpm: { capacity: 1, refillPeriodSeconds: 60 } } },
    )
    const subject = { entity: 'bob', resource: 'api', signal }
    const ran = () => assert.fail('it ran')
    async function* never(): AsyncGenerator<Uint8Array> {
      yield ran()
    }
    const { limits, locks, idempotency, allowlists } = catraca
    const calls: Record<string, () => Promise<unknown>> = {
      acquire: () => limits.acquire(subject),
      withLease: () => limits.withLease(subject, ran),
      'limits.hold': () => limits.hold(subject),
      lock: () => locks.acquire('a', { signal }),
      withLock: () => locks.withLock('a', { signal }, ran),
      'locks.hold': () => locks.hold('a', { signal }),
      run: () => idempotency.run({ ...record, signal }, ran),
      hold: () => idempotency.hold({ ...record, signal }),
      import: () => allowlists.import('vip', never(), { signal }),
      reshard: () => allowlists.reshard('vip', 2, { signal }),
    }
    for (const [name, call] of Object.entries(calls)) await assert.rejects(call(), isAborted(reason), name)
    assert.equal((await limits.acquire({ entity: 'bob', resource: 'api' })).allowed, true)
    assert.equal((await locks.status('a')).held, false)
    assert.equal(await idempotency.get(record), undefined)
  })

  it('ends its wait', async () => {
    const { locks, idempotency, cache } = catraca
    const record = { operation: 'PAY', key: 'k2' }
    const space = cache.space<number>({ name: 'waits', ttlMs: 60_000 })
    assert.equal((await space.lease('k')).state, 'yours')
    const begun = await idempotency.begin(record)
    assert.equal(begun.outcome, 'claimed')
    await using _ = await locks.hold('b')
    for (const call of [
      (signal: AbortSignal) => locks.acquire('b', { waitMs: 60_000, signal }),
      (signal: AbortSignal) => locks.withLock('b', { signal }, () => assert.fail('it ran')),
      (signal: AbortSignal) =>
        idempotency.run({ ...record, waitMs: 60_000, signal }, () => assert.fail('it ran')),
      (signal: AbortSignal) => space.lease('k', { waitMs: 30_000, signal }),
    ]) {
      const stop = new AbortController()
      const waiting = call(stop.signal)
      waiting.catch(() => {})
      await turn()
      stop.abort()
      await assert.rejects(waiting, isAborted(stop.signal.reason))
    }
  })

  it('tells work that has begun by its own signal, and ends as the work ends', async () => {
    const { locks, idempotency } = catraca
    const stop = new AbortController()
    const work = async ({ signal }: { signal: AbortSignal }) => {
      stop.abort('enough')
      return [signal.aborted, signal.reason]
    }
    const result = await idempotency.run({ operation: 'PAY', key: 'k3', signal: stop.signal }, work)
    assert.deepEqual(result.outcome === 'executed' && result.value, [true, 'enough'])
    const other = new AbortController()
    const held = locks.withLock('c', { signal: other.signal }, ({ signal }) => {
      other.abort('enough')
      return signal.aborted
    })
    assert.equal(await held, true)
  })

  it('says more where the reason of the signal is an error of ours', async () => {
    const closing = new CatracaError('SHUTTING_DOWN', 'the server is stopping')
    const call = catraca.locks.acquire('d', { signal: AbortSignal.abort(closing) })
    await assert.rejects(call, (error) => error === closing)
  })
})

describe('await using', () => {
  it('gives locks back at the end of the block', async () => {
    const { locks } = catraca
    {
      await using lock = await locks.hold(['x', 'y'], { ttlMs: 5000 })
      assert.ok(lock.fence > 0 && lock.isHeld() && !lock.signal.aborted)
      assert.equal((await locks.acquire('x')).acquired, false)
      await assert.rejects(locks.hold('y', { waitMs: 0 }), (error) => isCatracaError(error, 'LOCK_HELD'))
    }
    for (const name of ['x', 'y']) assert.equal((await locks.status(name)).held, false)
  })

  it('gives leases back at the end of the block', async () => {
    const { limits } = catraca
    const atOnce = { algorithm: 'concurrency', capacity: 1, refillPeriodSeconds: 60 } as const
    await limits.setConfig({ level: 'system', resource: 'jobs' }, { limits: { atOnce } })
    const subject = { entity: 'ann', resource: 'jobs' }
    for (let i = 0; i < 2; i++) {
      await using lease = await limits.hold(subject)
      assert.equal(lease.limits.atOnce?.remaining, 0)
      await assert.rejects(limits.hold(subject), (error) => isCatracaError(error, 'QUOTA_EXCEEDED'))
    }
  })

  it('withLock takes its work alone, and work that is no promise', async () => {
    const { locks } = catraca
    assert.equal(await locks.withLock('z', () => 7), 7)
    assert.equal(await locks.withLock('z', undefined, async ({ fence }) => fence > 0), true)
    await assert.rejects(locks.withLock('z', {}, undefined as never), (error) =>
      isCatracaError(error, 'INVALID_INPUT'),
    )
    const failing = locks.withLock('z', () => {
      throw new Error('mine')
    })
    await assert.rejects(failing, /mine/)
    assert.equal((await locks.status('z')).held, false)
  })

  it('refuses unknown fields wherever options are given', async () => {
    const catraca = await openCatraca({ store: 'memory:' })
    const wrong = { zzz: 1 } as object
    const run = (): never => assert.fail('nothing is run')
    const idempotency = { run }
    const promised = [
      () => startServer(catraca, wrong),
      () => startRelay({ store: 'dynamodb://sa-east-1/lists', ...wrong }),
      () => adoptLists('dynamodb://sa-east-1/lists', wrong),
      () => catraca.health(wrong),
      () => catraca.allowlists.export('a', wrong).next(),
    ]
    for (const call of promised) await assert.rejects(call(), isUnknown('zzz'))
    const consumer = { idempotency, key: run, handle: run, ...wrong }
    assert.throws(() => idempotentConsumer(consumer), isUnknown('zzz'))
    assert.throws(() => catraca.audit.as({ name: 'ann', ...wrong }, run), isUnknown('zzz'))
    const roles = ['zzz'] as never[]
    await assert.rejects(openDynamodbTables('dynamodb://sa-east-1/lists', roles), /roles has zzz/)
    await catraca.close()
  })
})
