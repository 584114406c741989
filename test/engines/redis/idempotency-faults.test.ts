import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  claimBy,
  claimed,
  JSON_ANSWER,
  KEY,
  LEASE_MS,
  owner,
} from '../../../src/conformance/idempotency/support.js'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { openRedis } from '../../../src/engines/redis/index.js'
import type { RedisEngineOptions } from '../../../src/engines/redis/options.js'
import type { IdempotencyStore } from '../../../src/guards/idempotency/port.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { failsInTime, inTime, startCut, until } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const redis = oneServer()
const TIMEOUT_MS = 400
/** Deadlines are looked at in steps, on a machine that does other things too. */
const IN_TIME_MS = TIMEOUT_MS + 1000
const QUICK = { commandTimeoutMs: TIMEOUT_MS }

/** Every verb, for what is claimed already. */
const VERBS: Record<string, (store: IdempotencyStore) => Promise<unknown>> = {
  claim: (store) => store.claim(claimBy(1), 0),
  complete: (store) => store.complete(KEY, owner(1), JSON_ANSWER, 0),
  fail: (store) => store.fail(KEY, owner(1), 'x', 0),
  release: (store) => store.release(KEY, owner(1), 0),
  extend: (store) => store.extend(KEY, owner(1), LEASE_MS, 0),
  read: (store) => store.read(KEY, 0),
  remove: (store) => store.remove(KEY),
}

/** A store whose next answer can be swallowed together with its connection. */
async function cuttable(t: TestContext, times: RedisEngineOptions = PATIENT_REDIS) {
  const cut = await startCut(redis.server().port)
  const url = { ...redis.url(), nodes: [{ host: '127.0.0.1', port: cut.port }] }
  const engine = await openRedis(url, times)
  t.after(async () => {
    await engine.close()
    await cut.close()
  })
  // Scripts are loaded once, so that the answer that is swallowed is that of the call.
  const warm = { operation: 'WARM', key: 'x' }
  await engine.idempotency.claim(claimBy(9, { key: warm }), 0)
  await engine.idempotency.extend(warm, owner(9), 1000, 0)
  await engine.idempotency.complete(warm, owner(9), {}, 0)
  await engine.idempotency.fail(warm, owner(9), 'x', 0)
  return { store: engine.idempotency, cut }
}

describe('an answer that is lost', () => {
  it('of a claim is asked for again, and says that it was claimed, once', async (t) => {
    const { store, cut } = await cuttable(t)
    const before = cut.taken()
    cut.next()
    const answer = await claimed(store, claimBy(1), 0)
    assert.equal(answer.attempt, 1)
    assert.equal(cut.taken(), before + 1)
    const other = await (await redis.open()).idempotency.claim(claimBy(2), 0)
    assert.ok(other.outcome === 'found' && other.record.attempt === 1)
  })

  it('of complete and extend is asked for again too', async (t) => {
    const { store, cut } = await cuttable(t)
    await claimed(store, claimBy(1), 0)
    cut.next()
    assert.equal(await store.extend(KEY, owner(1), LEASE_MS, 0), 'done')
    cut.next()
    assert.equal(await store.complete(KEY, owner(1), JSON_ANSWER, 0), 'done')
    assert.deepEqual((await store.read(KEY, 0))!.response, JSON_ANSWER.response)
  })

  it('of what cannot be asked twice is an unknown outcome', async (t) => {
    const { store, cut } = await cuttable(t)
    await claimed(store, claimBy(1), 0)
    cut.next()
    await failsInTime(store.fail(KEY, owner(1), 'x', 0), 'UNKNOWN_OUTCOME', 20_000)
    assert.equal(await store.fail(KEY, owner(1), 'x', 0), 'done')
  })

  it('for good is an unknown outcome, and not one in which nothing was done', async (t) => {
    const { store, cut } = await cuttable(t, { ...PATIENT_REDIS, commandTimeoutMs: 5000 })
    cut.last()
    await failsInTime(store.claim(claimBy(1), 0), 'UNKNOWN_OUTCOME', 20_000)
    const state = '{bridge:idempotency:PRODUCE:'.concat(KEY.key, '}:state')
    assert.equal(await redis.raw('EXISTS', state), 1)
  })
})

describe('without Redis', () => {
  for (const [name, verb] of Object.entries(VERBS)) {
    it(`${name} fails within the timeout while it stands still, and works again behind it`, async () => {
      const [{ idempotency }, patient] = [await redis.open(QUICK), await redis.open()]
      await claimed(patient.idempotency, claimBy(1), 0)
      redis.server().pause()
      try {
        const code = name === 'read' ? 'ENGINE_UNAVAILABLE' : 'UNKNOWN_OUTCOME'
        await failsInTime(verb(idempotency), code, IN_TIME_MS)
      } finally {
        redis.server().resume()
      }
      await until('it answers again', async () => {
        await idempotency.read(KEY, 0)
        return true
      })
    })
  }

  it('every verb fails within the timeout when the server is dead, and works when it is back', async () => {
    const [{ idempotency }, patient] = [await redis.open(QUICK), await redis.open()]
    await claimed(patient.idempotency, claimBy(1), 0)
    await redis.server().kill()
    try {
      for (const [name, verb] of Object.entries(VERBS)) {
        const asked = inTime(verb(idempotency), IN_TIME_MS, name)
        await assert.rejects(asked, (error) => error instanceof CatracaError, name)
      }
    } finally {
      await redis.server().restart()
    }
    await until('it claims again', async () => (await idempotency.claim(claimBy(2), 0)).outcome === 'claimed')
  })

  it('a full server refuses a claim, and leaves nothing of it', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(0, { key: { operation: 'WARM', key: 'x' } }), 0)
    await redis.raw('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await assert.rejects(idempotency.claim(claimBy(1), 0), (error) => isCatracaError(error, 'STORE_FULL'))
    } finally {
      await redis.raw('CONFIG', 'SET', 'maxmemory', '0')
    }
    assert.equal((await claimed(idempotency, claimBy(2), 0)).attempt, 1)
  })
})
