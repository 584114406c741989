import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Circuits } from '../../src/app/circuits.js'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { Interruptible } from '../guards/cache/support.js'
import { type RedisServers, startSingle, until } from '../support/redis/index.js'

/** Far above what a refusal takes, and far below what a call waits for a store that does not answer. */
const AT_ONCE_MS = 400
const TIMEOUT_MS = 1000

const PEPPER = 'a pepper of at least thirty-two characters'

let redis: RedisServers
before(async () => {
  redis = await startSingle()
})
after(() => redis.stop())

/** Codes count attempts with limits before anything else. */
const CAPABILITIES: Record<string, string> = { members: 'allowlists', codes: 'limits' }

type Calls = Record<string, () => Promise<unknown>>

const callsOf = ({ limits, idempotency, locks, codes, tokens, audit, allowlists }: Catraca): Calls => ({
  limits: () => limits.acquire({ entity: 'e', resource: 'r', consume: { rpm: 1 } }),
  idempotency: () => idempotency.begin({ operation: 'PAY', key: 'k' }),
  locks: () => locks.acquire('l', { ttlMs: 1000 }),
  codes: () => codes.issue({ channel: 'email', address: 'a@example.com' }),
  tokens: () => tokens.revoke({ jti: 'j', expiresAt: new Date(Date.now() + 60_000) }),
  audit: () => audit!.list({}),
  members: () => allowlists.add('vip', 'alice'),
})

/** Longer than the failures that a circuit does not count. */
const SLOW_MS = 150

/** The processor may be elsewhere for a while, so only the processor time of a refusal says what it costs; this one waits. */
async function tookMs(call: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  await assert.rejects(call(), (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'))
  return performance.now() - beganMs
}

describe('a store that does not answer', () => {
  it('keeps only the first calls waiting, is named to the others at once, and is found again', async (t) => {
    const reported: string[] = []
    const catraca = await openCatraca({
      store: redis.storeUrl,
      sweepIntervalMs: 0,
      redis: { commandTimeoutMs: TIMEOUT_MS },
      codes: { pepper: PEPPER },
      limits: { timeoutMs: 3 * TIMEOUT_MS, usageFlushMs: 0 },
      onReport: (message) => reported.push(message),
    })
    t.after(() => catraca.close())
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const limits = { rpm: { capacity: 100, refillPeriodSeconds: 60 } }
    await catraca.limits.setConfig({ level: 'system', resource: 'r' }, { limits })
    const calls = callsOf(catraca)
    const isOpen = (capability: string) =>
      catraca.engineFigures
        .circuits()
        .some(({ parts, state }) => parts.capability === capability && state !== 'closed')
    redis.servers[0]!.pause()
    try {
      await Promise.all(Object.values(calls).flatMap((call) => [1, 2, 3].map(() => call().catch(() => {}))))
      await Promise.all(Object.values(calls).map((call) => call().catch(() => {})))
      for (const [name, call] of Object.entries(calls)) {
        assert.ok(isOpen(CAPABILITIES[name] ?? name), `the circuit of ${name} is open`)
        // The fastest of some tries: a busy machine makes any one of them slow.
        const times = []
        for (let i = 0; i < 5; i++) times.push(await tookMs(call))
        assert.ok(Math.min(...times) < AT_ONCE_MS, `${name} took ${times}`)
      }
      const { status } = await catraca.health()
      assert.equal(status, 'unhealthy')
    } finally {
      redis.servers[0]!.resume()
    }
    for (const [name, call] of Object.entries(calls)) {
      await until(`${name} works again`, () =>
        call().then(
          () => true,
          (error) =>
            !isCatracaError(error, 'ENGINE_UNAVAILABLE') && !isCatracaError(error, 'UNKNOWN_OUTCOME'),
        ),
      )
    }
    assert.match(reported.join('\n'), /redis does not answer limits \(writes\): calls now fail at once/)
    assert.match(reported.join('\n'), /redis answers limits \(writes\) again/)
  })

  it('is sent removals from caches all the time, and works again when it takes one', async (t) => {
    const engine = openEmbedded()
    t.after(() => engine.close())
    const tier = new Interruptible(engine.cache)
    const circuits = new Circuits(() => {})
    t.after(() => circuits.close())
    const cache = circuits.protect(engine, { cache: tier.store }).cache!
    const now = Date.now()
    const write = () => cache.write('s', [{ key: 'k', value: '1', lifeMs: 60_000, tags: [] }], now)
    await write()
    tier.state = 'refusing'
    tier.refusalMs = SLOW_MS
    for (let i = 0; i < 3; i++) await assert.rejects(write())
    const state = () => circuits.rows().find(({ parts }) => parts.kind === 'write')!.state
    assert.equal(state(), 'open')
    const removals = [() => cache.remove('s', ['k'], now), () => cache.clear('s', now)]
    for (const remove of [...removals, () => cache.removeTag('s', 'red', now)])
      await assert.rejects(remove(), /taken away on purpose/)
    tier.state = 'up'
    assert.deepEqual(await cache.remove('s', ['k'], now), [true])
    assert.equal(state(), 'closed')
    await write()
  })
})
