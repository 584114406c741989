import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { type Catraca, isCatracaError, type OpenOptions } from '../../../src/index.js'
import { until } from '../../server/support.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const NOW = Date.UTC(2030, 0, 1)
const HOUR_MS = 3_600_000
const at = (ms: number): Date => new Date(ms)
const expiresAt = at(NOW + HOUR_MS)

async function open(
  t: TestContext,
  options: OpenOptions = {},
): Promise<{ clock: ManualClock; catraca: Catraca }> {
  const clock = new ManualClock(NOW)
  // Memory must not become stale because the machine is busy.
  const tokens = { staleAfterMs: 60_000, ...options.tokens }
  const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0, clock, ...options, tokens })
  t.after(() => catraca.close())
  return { clock, catraca }
}

describe('the token denylist', () => {
  it('revokes a token until it expires, known at once where it was revoked', async (t) => {
    const { catraca, clock } = await open(t)
    const { tokens } = catraca
    await tokens.warmUp()
    assert.equal(tokens.peek({ jti: 'a' }), false)
    await tokens.revoke({ jti: 'a', expiresAt })
    assert.equal(tokens.peek({ jti: 'a' }), true)
    assert.equal(await tokens.isRevoked({ jti: 'a' }), true)
    assert.deepEqual(await tokens.check({ jti: 'a' }), { revoked: true })
    assert.equal(await tokens.isRevoked({ jti: 'b' }), false)
    clock.set(NOW + HOUR_MS)
    assert.equal(tokens.peek({ jti: 'a' }), false)
  })

  it('compares UUIDs whatever their case', async (t) => {
    const { catraca } = await open(t)
    await catraca.tokens.revoke({ jti: '0F8FAD5B-D9CB-469F-A165-70867728950E', expiresAt })
    for (const store of ['store', 'memory']) {
      if (store === 'memory') await catraca.tokens.warmUp()
      assert.equal(
        await catraca.tokens.isRevoked({ jti: '0f8fad5b-d9cb-469f-a165-70867728950e' }),
        true,
        store,
      )
    }
  })

  it('revokes all tokens of a subject that were issued before a time', async (t) => {
    const { catraca, clock } = await open(t)
    const { tokens } = catraca
    await tokens.revokeSubject({ subject: 'ann', notBefore: at(NOW), expiresAt })
    const answers = async () => [
      await tokens.isRevoked({ jti: 'x', subject: 'ann', issuedAt: at(NOW - 1) }),
      await tokens.isRevoked({ jti: 'x', subject: 'ann', issuedAt: at(NOW) }),
      await tokens.isRevoked({ jti: 'x', subject: 'ann' }),
      await tokens.isRevoked({ subject: 'ann', issuedAt: '2029-12-31T23:59:59.999Z' }),
      await tokens.isRevoked({ jti: 'x', subject: 'bob', issuedAt: at(0) }),
      await tokens.isRevoked({ jti: 'ann' }),
    ]
    const expected = [true, false, true, true, false, false]
    assert.deepEqual(await answers(), expected, 'by the store')
    await tokens.warmUp()
    assert.notEqual(tokens.peek({ jti: 'x' }), undefined)
    assert.deepEqual(await answers(), expected, 'from memory')
    clock.set(NOW + HOUR_MS)
    assert.equal(await tokens.isRevoked({ subject: 'ann' }), false)
  })

  it('keeps nothing of what is over already, and the longest of what is said twice', async (t) => {
    const { catraca, clock } = await open(t)
    const { tokens } = catraca
    await tokens.warmUp()
    await tokens.revoke({ jti: 'old', expiresAt: at(NOW - 60_000) })
    assert.deepEqual([tokens.peek({ jti: 'old' }), tokens.stats().tokens], [false, 0])
    await tokens.revokeAll([
      { jti: 'a', expiresAt: at(NOW + 9000) },
      { jti: 'a', expiresAt: at(NOW + 5000) },
      { jti: 'b', expiresAt: at(NOW - 65_000) },
    ])
    clock.advance(8999)
    assert.deepEqual(
      [tokens.peek({ jti: 'a' }), tokens.peek({ jti: 'b' }), tokens.stats().tokens],
      [true, false, 1],
    )
  })

  it('keeps what is over only by the clock of the process that revokes it', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const { catraca: fast, clock } = await open(t, { store })
    const { catraca: other } = await open(t, { store })
    clock.set(NOW + 30_000)
    await fast.tokens.revokeAll([
      { jti: 'a', expiresAt: at(NOW + 20_000) },
      { jti: 'b', expiresAt: at(NOW + 30_000 - 60_000) },
    ])
    await fast.tokens.revokeSubject({ subject: 'ann', notBefore: at(NOW), expiresAt: at(NOW + 20_000) })
    assert.equal(await other.tokens.isRevoked({ jti: 'a' }), true)
    assert.equal(await other.tokens.isRevoked({ subject: 'ann' }), true)
    assert.equal(await fast.tokens.isRevoked({ jti: 'a' }), false)
  })

  it('revokes many at once, in one log', async (t) => {
    const { catraca } = await open(t)
    const { tokens } = catraca
    const many = Array.from({ length: 2500 }, (_, i) => ({ jti: `t${i}`, expiresAt }))
    await tokens.revokeAll(many)
    await tokens.warmUp()
    assert.equal(tokens.stats().tokens, 2500)
    assert.ok(many.every(({ jti }) => tokens.peek({ jti }) === true))
  })

  it('is followed by every process: within a second, also what was revoked before it began', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const [{ catraca: one }, { catraca: two }] = [await open(t, { store }), await open(t, { store })]
    await one.tokens.revoke({ jti: 'before', expiresAt })
    await two.tokens.warmUp()
    assert.equal(two.tokens.peek({ jti: 'before' }), true)
    await one.tokens.revoke({ jti: 'a', expiresAt })
    await one.tokens.revokeSubject({ subject: 'ann', notBefore: at(NOW), expiresAt })
    await until(
      'both are seen',
      () => two.tokens.peek({ jti: 'a' }) === true && two.tokens.peek({ subject: 'ann' }) === true,
    )
    assert.equal(two.tokens.stats().fromStore, 0)
  })

  it('asks the store while memory is not loaded, and never lets it answer when it is behind', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const [{ catraca: one }, { catraca: two }] = [
      await open(t, { store }),
      await open(t, { store, tokens: { compareIntervalMs: 3_600_000, staleAfterMs: 100 } }),
    ]
    await two.tokens.warmUp()
    assert.equal(two.tokens.peek({ jti: 'a' }), false)
    await one.tokens.revoke({ jti: 'a', expiresAt })
    await until('memory is stale', () => two.tokens.peek({ jti: 'a' }) === undefined)
    assert.equal(await two.tokens.isRevoked({ jti: 'a' }), true)
    assert.ok(two.tokens.stats().fromStore > 0)
  })

  it('never forgets what memory holds because it is behind, also where the setting says to go on', async (t) => {
    const { catraca } = await open(t, {
      tokens: { compareIntervalMs: 3_600_000, staleAfterMs: 20, onUnavailable: 'allow' },
    })
    const { tokens } = catraca
    await tokens.warmUp()
    await tokens.revoke({ jti: 'a', expiresAt })
    await tokens.revokeSubject({ subject: 'ann', notBefore: at(NOW), expiresAt })
    await until('memory is stale', () => tokens.peek({ jti: 'b' }) === undefined)
    await catraca.close()
    assert.deepEqual(await tokens.check({ jti: 'a' }), { revoked: true })
    assert.deepEqual(await tokens.check({ jti: 'b', subject: 'ann', issuedAt: at(NOW - 1) }), {
      revoked: true,
    })
    assert.equal(tokens.peek({ jti: 'b', subject: 'ann', issuedAt: at(NOW) }), undefined)
  })

  it('loads anew when the log does not reach back', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const tokens = { compareIntervalMs: 100 }
    const embedded = { maxLogBytes: 1024 }
    const [{ catraca: one }, { catraca: two }] = [
      await open(t, { store, embedded }),
      await open(t, { store, embedded, tokens }),
    ]
    await two.tokens.warmUp()
    const many = Array.from({ length: 300 }, (_, i) => `token-with-some-length-${i}`)
    await Promise.all(many.map((jti) => one.tokens.revoke({ jti, expiresAt })))
    await until('all are known', () => many.every((jti) => two.tokens.peek({ jti }) === true))
  })

  it('forgets what is over, in memory and in the store', async (t) => {
    const store = `embedded:${temporaryDirectory()}`
    const { catraca, clock } = await open(t, { store, tokens: { compareIntervalMs: 5 } })
    const { tokens } = catraca
    await tokens.warmUp()
    await tokens.revokeAll(Array.from({ length: 1000 }, (_, i) => ({ jti: `t${i}`, expiresAt })))
    await tokens.revokeSubject({ subject: 'ann', notBefore: at(NOW), expiresAt })
    clock.set(NOW + HOUR_MS + 61_000)
    await until('memory is empty', () => tokens.stats().tokens === 0 && tokens.stats().subjects === 0)
    // By the clock of another they hold, as long as nothing has dropped them from the store.
    const { catraca: other } = await open(t, { store, tokens: { compareIntervalMs: 0 } })
    assert.equal(await other.tokens.isRevoked({ jti: 't1' }), true)
    await catraca.upkeep()
    assert.equal(await other.tokens.isRevoked({ jti: 't1' }), false)
    assert.equal(await other.tokens.isRevoked({ subject: 'ann' }), false)
  })

  it('refuses what is wrong by the name of its field', async (t) => {
    const { catraca } = await open(t)
    const { tokens } = catraca
    const wrong: [() => unknown, string][] = [
      [() => tokens.revoke({ jti: 'a b', expiresAt }), 'jti'],
      [() => tokens.revoke({ jti: 'a', expiresAt: 1893456000 as never }), 'expiresAt'],
      [() => tokens.revoke({ jti: 'a', expiresAt: 'tomorrow' }), 'expiresAt'],
      [() => tokens.revoke({ jti: 'a', expiresAt: '2030-01-01T00:00:00' }), 'expiresAt'],
      [
        () =>
          tokens.revokeAll([
            { jti: 'a', expiresAt },
            { jti: '', expiresAt },
          ]),
        'tokens[1].jti',
      ],
      [() => tokens.revokeSubject({ subject: 'a', notBefore: '', expiresAt }), 'notBefore'],
      [() => tokens.check({} as never), 'jti'],
      [() => tokens.check({ jti: 'a', issuedAt: expiresAt }), 'subject'],
      [() => tokens.check({ jti: 'a', subject: '..' }), 'subject'],
    ]
    for (const [call, field] of wrong) {
      const error = await Promise.resolve()
        .then(call)
        .then(
          () => assert.fail(`${field} was taken`),
          (thrown) => thrown,
        )
      assert.ok(isCatracaError(error, 'INVALID_INPUT'), String(error))
      assert.equal(error.errors?.[0]?.path, field)
    }
  })
  it('holds so many revocations, until some expire', async (t) => {
    const { catraca, clock } = await open(t, { tokens: { maxEntries: 3, compareIntervalMs: 20 } })
    const { tokens } = catraca
    await tokens.warmUp()
    const of = (...names: string[]) => names.map((jti) => ({ jti, expiresAt }))
    await tokens.revokeAll(of('a', 'b'))
    const subject = { subject: 'ann', notBefore: at(NOW), expiresAt }
    await tokens.revokeSubject(subject)
    const full = { code: 'STORE_FULL', message: /tokens\.maxEntries/ }
    await assert.rejects(tokens.revokeAll(of('a', 'c')), full)
    await assert.rejects(tokens.revokeSubject({ ...subject, subject: 'bob' }), full)
    assert.equal(await tokens.isRevoked({ jti: 'c' }), false, 'nothing of it was stored')
    await tokens.revokeAll(of('b', 'a'))
    await tokens.revokeSubject(subject)
    clock.set(NOW + 2 * HOUR_MS)
    await until('room', () => tokens.stats().tokens === 0)
    await tokens.revoke({ jti: 'c', expiresAt: at(NOW + 3 * HOUR_MS) })
  })
})
