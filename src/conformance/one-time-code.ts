import assert from 'node:assert/strict'
import type { Attempt, AttemptOutcome, CodeKey, CodeStore } from '../guards/one-time-code/port.js'
import { suite } from './suite.js'
import { NOW, parallel } from './support.js'

const LIFE_MS = 600_000
const ANN: CodeKey = { channel: 'email', address: 'ann@example.com', purpose: '' }

const put = (store: CodeStore, key: CodeKey, name: string, now = NOW) =>
  store.put(key, { salt: `salt-${name}`, digest: `digest-${name}`, lifeMs: LIFE_MS }, now)

const guess = (name: string, digest = `digest-${name}`, maxAttempts = 5): Attempt => ({
  salt: `salt-${name}`,
  digests: [digest],
  maxAttempts,
})

const times = <T>(all: readonly T[], one: T): number => all.filter((each) => each === one).length

export const codeSuite = suite<CodeStore>(
  'one-time codes',
  {
    async 'a code that one instance keeps works on the other, once'({ one, two }) {
      assert.deepEqual(await put(one, ANN, 'a'), { expiresAt: NOW + LIFE_MS })
      assert.equal(await two.salt(ANN, NOW), 'salt-a')
      assert.equal(await two.attempt(ANN, guess('a'), NOW), 'match')
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'used')
      assert.equal(await two.attempt(ANN, guess('a'), NOW), 'used')
    },

    async 'a used code is known until its end, however often it comes, and others at its place are wrong'({
      one,
      two,
    }) {
      await put(one, ANN, 'a')
      assert.equal(await two.attempt(ANN, guess('a'), NOW), 'match')
      for (let i = 0; i < 7; i++) assert.equal(await one.attempt(ANN, guess('a'), NOW), 'used')
      for (let i = 0; i < 7; i++) assert.equal(await two.attempt(ANN, guess('a', 'no'), NOW), 'wrong')
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'used')
      assert.equal(await one.peek(ANN, NOW), undefined)
      assert.equal(await one.attempt(ANN, guess('a'), NOW + LIFE_MS), 'wrong')
      await put(two, ANN, 'b')
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'replaced')
      assert.equal(await one.attempt(ANN, guess('b'), NOW), 'match')
    },

    async 'without a code nothing matches, and nothing is kept'({ one, two }) {
      assert.equal(await one.salt(ANN, NOW), undefined)
      for (let i = 0; i < 7; i++) assert.equal(await one.attempt(ANN, guess('a'), NOW), 'wrong')
      await put(two, ANN, 'a')
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'match')
    },

    async 'a wrong guess is counted, and the last one permitted may be right'({ one, two }) {
      await put(one, ANN, 'a')
      for (let i = 0; i < 4; i++) assert.equal(await two.attempt(ANN, guess('a', 'no'), NOW), 'wrong')
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'match')
    },

    async 'after its attempts the right code is wrong'({ one, two }) {
      await put(one, ANN, 'a')
      for (let i = 0; i < 5; i++) {
        assert.equal(await (i % 2 === 0 ? one : two).attempt(ANN, guess('a', 'no'), NOW), 'wrong')
      }
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'wrong')
      assert.equal(await two.attempt(ANN, guess('b'), NOW), 'wrong')
    },

    async 'a new code replaces the old one, with attempts of its own'({ one, two }) {
      await put(one, ANN, 'a')
      for (let i = 0; i < 5; i++) await one.attempt(ANN, guess('a', 'no'), NOW)
      await put(two, ANN, 'b', NOW + 1)
      assert.equal(await one.attempt(ANN, guess('a'), NOW + 1), 'replaced')
      assert.equal(await one.salt(ANN, NOW + 1), 'salt-b')
      assert.equal(await one.attempt(ANN, guess('b'), NOW + 1), 'match')
    },

    async 'an attempt with the salt of another code is not counted'({ one }) {
      await put(one, ANN, 'b')
      for (let i = 0; i < 9; i++) assert.equal(await one.attempt(ANN, guess('a'), NOW), 'replaced')
      assert.equal(await one.attempt(ANN, guess('b'), NOW), 'match')
    },

    async 'any of several hashes may be the one'({ one }) {
      await put(one, ANN, 'a')
      const attempt = { ...guess('a'), digests: ['no', 'digest-a', 'neither'] }
      assert.equal(await one.attempt(ANN, attempt, NOW), 'match')
      assert.equal(await one.attempt(ANN, attempt, NOW), 'used')
    },

    async 'a code is over at its end, not before, swept or not'({ one, two }) {
      await put(one, ANN, 'a')
      const end = NOW + LIFE_MS
      assert.equal(await two.attempt(ANN, guess('a', 'no'), end - 1), 'wrong')
      assert.equal(await two.attempt(ANN, guess('a'), end), 'wrong')
      assert.equal(await two.attempt(ANN, guess('a'), end - 1), 'match')
    },

    async 'who looks learns when it ends and how often it was guessed, and changes nothing'({ one, two }) {
      assert.equal(await one.peek(ANN, NOW), undefined)
      await put(one, ANN, 'a')
      await two.attempt(ANN, guess('a', 'no'), NOW)
      for (const store of [one, two]) {
        assert.deepEqual(await store.peek(ANN, NOW), { expiresAt: NOW + LIFE_MS, attempts: 1 })
      }
      assert.equal(await two.peek(ANN, NOW + LIFE_MS), undefined)
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'match')
      assert.equal(await two.peek(ANN, NOW), undefined)
    },

    async 'a code that was revoked does not work, and its neighbours do'({ one, two }) {
      const login = { ...ANN, purpose: 'login' }
      await put(one, ANN, 'a')
      await put(one, login, 'b')
      assert.equal(await two.revoke(ANN, NOW), true)
      assert.equal(await one.revoke(ANN, NOW), false)
      assert.equal(await one.salt(ANN, NOW), undefined)
      assert.equal(await one.attempt(ANN, guess('a'), NOW), 'wrong')
      assert.equal(await one.attempt(login, guess('b'), NOW), 'match')
      assert.equal(await two.revoke(login, NOW), false)
      await put(two, ANN, 'c')
      assert.equal(await one.revoke(ANN, NOW + LIFE_MS), false)
    },

    async 'a sweep drops what is over and nothing else'({ one, two }) {
      const bob = { ...ANN, address: 'bob@example.com' }
      await put(one, ANN, 'a')
      await put(one, bob, 'b')
      await put(two, bob, 'c', NOW + 1000)
      while ((await one.sweep(NOW + LIFE_MS)).more);
      assert.equal(await two.attempt(ANN, guess('a'), NOW + LIFE_MS), 'wrong')
      assert.equal(await two.attempt(bob, guess('c'), NOW + LIFE_MS), 'match')
    },

    async 'channels, addresses and purposes do not mix, whatever they hold'({ one, two }) {
      const keys: CodeKey[] = [
        ANN,
        { ...ANN, purpose: 'login' },
        { ...ANN, purpose: 'login:2' },
        { ...ANN, purpose: 'Login' },
        { ...ANN, purpose: 'ann@example.com' },
        { ...ANN, address: 'ann%40@example.com' },
        { ...ANN, address: 'ann#login@example.com' },
        { ...ANN, address: '{ann}@example.com' },
        { ...ANN, address: '%7bann%7d@example.com' },
        { ...ANN, address: `${'x'.repeat(64)}@${'y'.repeat(60)}.example.com`, purpose: 'p'.repeat(256) },
        { ...ANN, address: 'josé@exämple.com' },
        { ...ANN, address: '+5511999998888' },
        { ...ANN, address: '+5511999998888', channel: 'phone' },
        { ...ANN, address: '+551199999888', channel: 'phone', purpose: '8' },
      ]
      for (const [i, key] of keys.entries()) await put(one, key, String(i))
      for (const [i, key] of keys.entries()) {
        assert.equal(await two.attempt(key, guess(String(i)), NOW), 'match', `${i}`)
      }
    },
  },
  {
    async 'the right code at the same time: one succeeds'(pair) {
      for (let round = 0; round < 5; round++) {
        const key = { ...ANN, purpose: `round-${round}` }
        await put(pair.one, key, 'a')
        const outcomes = await parallel(pair, 40, (store) =>
          store.attempt(key, guess('a', 'digest-a', 1000), NOW),
        )
        assert.deepEqual([times(outcomes, 'match'), times(outcomes, 'used')], [1, 39])
      }
    },

    async 'revoked while it is guessed: one of them gets it'(pair) {
      for (let round = 0; round < 5; round++) {
        const key = { ...ANN, purpose: `round-${round}` }
        await put(pair.one, key, 'a')
        const outcomes = await parallel<CodeStore, AttemptOutcome | boolean>(pair, 20, (store, i) =>
          i % 2 === 0 ? store.revoke(key, NOW) : store.attempt(key, guess('a', undefined, 1000), NOW),
        )
        assert.equal(times(outcomes, 'match') + times(outcomes, true), 1)
      }
    },

    async 'wrong guesses at the same time: no more are compared than permitted'(pair) {
      await put(pair.one, ANN, 'a')
      const wrong = await parallel(pair, 30, (store) => store.attempt(ANN, guess('a', 'no'), NOW))
      assert.equal(times(wrong, 'wrong'), 30)
      assert.equal(await pair.two.attempt(ANN, guess('a'), NOW), 'wrong')
      assert.equal(await pair.two.attempt(ANN, guess('a', 'digest-a', 1000), NOW), 'match')
    },

    async 'replaced while it is guessed: at most the one in place matches'(pair) {
      for (let round = 0; round < 5; round++) {
        const key = { ...ANN, purpose: `round-${round}` }
        await put(pair.one, key, 'a')
        const outcomes = await parallel<CodeStore, AttemptOutcome | undefined>(pair, 20, async (store, i) => {
          if (i === 9) return void (await put(store, key, 'b'))
          return store.attempt(key, guess(i % 4 < 2 ? 'a' : 'b', undefined, 1000), NOW)
        })
        const rest = await pair.one.attempt(key, guess('b', undefined, 1000), NOW)
        const matches = times(outcomes, 'match') + (rest === 'match' ? 1 : 0)
        assert.ok(matches >= 1 && matches <= 2, `${matches} matched`)
      }
    },
  },
)
