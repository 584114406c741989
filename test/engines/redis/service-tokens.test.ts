import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type Catraca, isCatracaError, type OpenOptions } from '../../../src/index.js'
import { until } from '../../server/support.js'
import { openPatiently } from '../../support/patient.js'
import { oneEmptiedServer } from '../../support/redis/index.js'

const redis = await oneEmptiedServer()

const say = (...args: string[]): Promise<unknown> => redis.servers[0]!.say(...args)
const HOUR_MS = 3_600_000
const inAnHour = () => new Date(Date.now() + HOUR_MS)

async function open(t: TestContext, options: Partial<OpenOptions> = {}): Promise<Catraca> {
  const catraca = await openPatiently({ store: redis.storeUrl, sweepIntervalMs: 0, ...options })
  t.after(() => catraca.close())
  return catraca
}

describe('the token denylist over Redis', () => {
  it('has a key for each token and each subject, which expire by themselves', async (t) => {
    const { tokens } = await open(t)
    const expiresAt = inAnHour()
    const notBefore = new Date()
    await tokens.revoke({ jti: 'abc', expiresAt })
    await tokens.revoke({ jti: 'subject:ann', expiresAt })
    await tokens.revokeSubject({ subject: 'ann', notBefore, expiresAt })
    await tokens.revokeSubject({
      subject: 'ann',
      notBefore: new Date(5),
      expiresAt: new Date(Date.now() + 60_000),
    })
    assert.deepEqual(((await say('KEYS', 'jwt:blacklist:*')) as string[]).sort(), [
      'jwt:blacklist:abc',
      'jwt:blacklist:subject%3Aann',
      'jwt:blacklist:subject:ann',
    ])
    assert.equal(await say('GET', 'jwt:blacklist:abc'), String(expiresAt.getTime()))
    assert.equal(await say('GET', 'jwt:blacklist:subject:ann'), String(notBefore.getTime()))
    for (const key of ['jwt:blacklist:abc', 'jwt:blacklist:subject:ann']) {
      assert.equal(Number(await say('PEXPIRETIME', key)), expiresAt.getTime())
    }
    assert.equal(await say('ZCARD', '{jwt:blacklist}:uncopied'), 0)
  })

  it('is told to other processes at once, and all checks are answered from memory', async (t) => {
    const [one, two] = [
      await open(t),
      await open(t, { tokens: { compareIntervalMs: 3_600_000, staleAfterMs: 3_600_000 } }),
    ]
    await two.tokens.warmUp()
    for (let i = 0; i < 5; i++) {
      await one.tokens.revoke({ jti: `t${i}`, expiresAt: inAnHour() })
      await until('it is seen', () => two.tokens.peek({ jti: `t${i}` }) === true)
    }
    assert.equal(two.tokens.stats().fromStore, 0)
  })

  it('is seen within a second when nobody is told', async (t) => {
    const [one, two] = [await open(t), await open(t)]
    await two.tokens.warmUp()
    await say('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await one.tokens.revoke({ jti: 'a', expiresAt: inAnHour() })
    await until('it is seen', () => two.tokens.peek({ jti: 'a' }) === true)
  })

  it('notices that data was lost, and loads anew', async (t) => {
    const catraca = await open(t, { tokens: { compareIntervalMs: 20 } })
    const { tokens } = catraca
    await tokens.warmUp()
    await tokens.revoke({ jti: 'lost', expiresAt: inAnHour() })
    await redis.flush()
    await until('it is forgotten', () => tokens.peek({ jti: 'lost' }) === false)
    const other = await open(t)
    await other.tokens.revoke({ jti: 'new', expiresAt: inAnHour() })
    await until('the new one is known', () => tokens.peek({ jti: 'new' }) === true)
  })

  it('mends keys that a process did not live to write', async (t) => {
    const catraca = await open(t)
    const { tokens } = catraca
    const expiresAt = inAnHour()
    await tokens.revoke({ jti: 'abc', expiresAt })
    await tokens.revokeSubject({ subject: 'ann', notBefore: new Date(7), expiresAt })
    await say('DEL', 'jwt:blacklist:abc', 'jwt:blacklist:subject:ann')
    const before = String(Date.now() - 120_000)
    await say('ZADD', '{jwt:blacklist}:uncopied', before, 't:abc', before, 's:ann', before, 't:over')
    await catraca.upkeep()
    assert.equal(await say('GET', 'jwt:blacklist:abc'), String(expiresAt.getTime()))
    assert.equal(await say('GET', 'jwt:blacklist:subject:ann'), '7')
    assert.equal(await say('ZCARD', '{jwt:blacklist}:uncopied'), 0)
  })

  it('blocks when the server is gone and memory is stale, or says that it does not', async (t) => {
    const quick = { compareIntervalMs: 50, staleAfterMs: 200, timeoutMs: 200 }
    const [one, two] = [
      await open(t, { tokens: quick }),
      await open(t, { tokens: { ...quick, onUnavailable: 'allow' } }),
    ]
    await one.tokens.revoke({ jti: 'a', expiresAt: inAnHour() })
    await Promise.all([one.tokens.warmUp(), two.tokens.warmUp()])
    await redis.servers[0]!.kill()
    await until('memory is stale', () => one.tokens.peek({ jti: 'b' }) === undefined)
    await assert.rejects(one.tokens.isRevoked({ jti: 'b' }), (error) =>
      isCatracaError(error, 'ENGINE_UNAVAILABLE'),
    )
    await until('memory is stale', () => two.tokens.peek({ jti: 'b' }) === undefined)
    assert.deepEqual(await two.tokens.check({ jti: 'b' }), { revoked: false, degraded: true })
    // What memory holds was revoked, whatever it has missed since.
    assert.deepEqual(await two.tokens.check({ jti: 'a' }), { revoked: true })
    await redis.servers[0]!.restart()
    await until('memory is fresh', () => one.tokens.peek({ jti: 'b' }) === false)
  })
})
