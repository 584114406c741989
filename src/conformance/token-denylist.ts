import assert from 'node:assert/strict'
import type { LogPosition, Revocation, TokenStore } from '../guards/token-denylist/port.js'
import { suite } from './suite.js'
import { NOW, parallel } from './support.js'

const HOUR_MS = 3_600_000
const END = NOW + HOUR_MS

const token = (id: string, expiresAt = END): Revocation => ({ kind: 'token', id, expiresAt })
const mark = (id: string, notBefore: number, expiresAt = END): Revocation => ({
  kind: 'subject',
  id,
  notBefore,
  expiresAt,
})

const isRevoked = async (store: TokenStore, jti: string, now = NOW): Promise<boolean> =>
  (await store.find(jti, undefined, now)).isRevoked

const notBefore = async (store: TokenStore, subject: string, now = NOW): Promise<number | undefined> =>
  (await store.find(undefined, subject, now)).notBefore

/** All entries after a position, as a follower reads them. */
async function readAll(store: TokenStore, from: LogPosition) {
  const revocations: Revocation[] = []
  let position = from
  while (true) {
    const part = await store.read(position)
    assert.ok(part !== 'gap')
    revocations.push(...part.revocations)
    position = part.position
    if (!part.more) return { revocations, position }
  }
}

async function loadAll(store: TokenStore, now = NOW): Promise<Revocation[]> {
  const found: Revocation[] = []
  for await (const part of store.all(now)) found.push(...part)
  return found
}

const ids = (revocations: readonly Revocation[]): string[] =>
  [...new Set(revocations.map(({ id }) => id))].sort()

export const tokenSuite = suite<TokenStore>(
  'token denylist',
  {
    async 'what one instance revokes the other one finds, until it is over'({ one, two }) {
      assert.equal(await isRevoked(two, 'a'), false)
      await one.revoke([token('a'), token('b', NOW + 1)], NOW)
      assert.equal(await isRevoked(two, 'a'), true)
      assert.equal(await isRevoked(two, 'a', END - 1), true)
      assert.equal(await isRevoked(two, 'a', END), false)
      assert.equal(await isRevoked(one, 'b', NOW + 1), false)
      assert.equal(await isRevoked(two, 'c'), false)
    },

    async 'a subject has one mark, of which the later times win'({ one, two }) {
      assert.equal(await notBefore(two, 'ann'), undefined)
      await one.revoke([mark('ann', NOW - 5, END)], NOW)
      assert.equal(await notBefore(two, 'ann'), NOW - 5)
      await two.revoke([mark('ann', NOW - 9, END + 5)], NOW)
      assert.equal(await notBefore(one, 'ann'), NOW - 5)
      assert.equal(await notBefore(one, 'ann', END + 4), NOW - 5)
      await one.revoke([mark('ann', NOW, END)], NOW)
      assert.equal(await notBefore(two, 'ann', END + 4), NOW)
      assert.equal((await two.find(undefined, 'ann', NOW)).markExpiresAt, END + 5)
      assert.equal((await two.find(undefined, 'ann', END + 5)).markExpiresAt, undefined)
      assert.equal(await notBefore(two, 'ann', END + 5), undefined)
    },

    async 'a token that is revoked again is so for the longer time'({ one, two }) {
      await one.revoke([token('a', END)], NOW)
      await two.revoke([token('a', END - 10)], NOW)
      assert.equal(await isRevoked(one, 'a', END - 1), true)
      await two.revoke([token('a', END + 10)], NOW)
      assert.equal(await isRevoked(one, 'a', END + 9), true)
    },

    async 'tokens and subjects do not mix, whatever they hold'({ one, two }) {
      const odd = [
        'a',
        'A',
        'subject:a',
        'subject',
        'a:b',
        'a%3Ab',
        'token',
        '__proto__',
        '1',
        'x'.repeat(256),
      ]
      const names = odd.filter((id) => !id.includes('%'))
      for (const id of names) await one.revoke([token(id)], NOW)
      for (const id of names) {
        assert.equal(await isRevoked(two, id), true, id)
        assert.equal(await notBefore(two, id), undefined, id)
      }
      await one.revoke(
        names.map((id, i) => mark(id, i)),
        NOW,
      )
      for (const [i, id] of names.entries()) assert.equal(await notBefore(two, id), i, id)
      assert.equal(await isRevoked(two, 'b'), false)
    },

    async 'the log tells each revocation, in order, and what is behind a position'({ one, two }) {
      const start = await two.position()
      assert.deepEqual(await readAll(two, start), { revocations: [], position: start })
      await one.revoke([token('a')], NOW)
      const { position } = await readAll(two, start)
      assert.deepEqual(position, await two.position())
      await two.revoke([token('b'), token('c', END + 1)], NOW)
      await one.revoke([mark('ann', NOW)], NOW)
      const all = [token('a'), token('b'), token('c', END + 1), mark('ann', NOW)]
      assert.deepEqual((await readAll(one, start)).revocations, all)
      assert.deepEqual((await readAll(one, position)).revocations, all.slice(1))
      assert.deepEqual((await readAll(two, await two.position())).revocations, [])
    },

    async 'a position that the log does not know is a gap'({ one }) {
      await one.revoke([token('a')], NOW)
      assert.equal(await one.read({ sequence: 1000, mark: 7 }), 'gap')
    },

    async 'more than fits one part is read in several'({ one, two }) {
      const start = await one.position()
      const names = Array.from({ length: 150 }, (_, i) => `token-${i}`)
      for (const id of names) await one.revoke([token(id)], NOW)
      assert.deepEqual(ids((await readAll(two, start)).revocations), [...names].sort())
    },

    async 'all that are not over are loaded'({ one, two }) {
      const names = Array.from({ length: 1000 }, (_, i) => `token-${i}`)
      await one.revoke(
        names.map((id, i) => token(id, END + i)),
        NOW,
      )
      await one.revoke([mark('ann', 5), mark('bob', 6, NOW + 1)], NOW)
      await two.revoke([token('token-0', END + 5000)], NOW)
      const loaded = await loadAll(two, END + 500)
      assert.deepEqual(ids(loaded), ['token-0', ...names.slice(501)].sort())
      assert.deepEqual(
        (await loadAll(two)).filter(({ kind }) => kind === 'subject').sort((a, b) => (a.id < b.id ? -1 : 1)),
        [mark('ann', 5), mark('bob', 6, NOW + 1)],
      )
    },

    async 'a sweep drops what is over and nothing else'({ one, two }) {
      await one.revoke([token('a', NOW + 1), token('b'), mark('ann', 1, NOW + 1), mark('bob', 2)], NOW)
      await two.revoke([token('c', NOW + 1)], NOW)
      await two.revoke([token('c')], NOW)
      while ((await one.sweep(NOW + 1)).more);
      assert.deepEqual(
        [
          await isRevoked(two, 'b', NOW + 1),
          await isRevoked(two, 'c', NOW + 1),
          await notBefore(two, 'bob', NOW + 1),
        ],
        [true, true, 2],
      )
      assert.deepEqual(ids(await loadAll(two, NOW + 1)), ['b', 'bob', 'c'])
    },
  },
  {
    async 'revoked at the same time: all are found, each once in the log, without holes'(pair) {
      const start = await pair.one.position()
      await parallel(pair, 40, (store, i) => store.revoke([token(`t${i}`), mark(`s${i % 3}`, i)], NOW))
      const { revocations } = await readAll(pair.two, start)
      assert.equal(revocations.length, 80)
      assert.equal(ids(revocations).length, 43)
      for (let i = 0; i < 40; i++) assert.equal(await isRevoked(pair.two, `t${i}`), true)
      assert.deepEqual(
        await Promise.all(['s0', 's1', 's2'].map((subject) => notBefore(pair.one, subject))),
        [39, 37, 38],
      )
    },

    async 'one token at the same time: the latest end holds'(pair) {
      await parallel(pair, 20, (store, i) => store.revoke([token('a', END + ((i * 7) % 20))], NOW))
      assert.equal(await isRevoked(pair.two, 'a', END + 18), true)
      assert.equal(await isRevoked(pair.one, 'a', END + 19), false)
    },

    async 'one who loads and then follows misses nothing that is revoked meanwhile'(pair) {
      const names = Array.from({ length: 60 }, (_, i) => `t${i}`)
      const writing = (async () => {
        for (const id of names) await pair.one.revoke([token(id)], NOW)
      })()
      const position = await pair.two.position()
      const loaded = await loadAll(pair.two)
      await writing
      const { revocations } = await readAll(pair.two, position)
      assert.deepEqual(ids([...loaded, ...revocations]), [...names].sort())
    },
  },
)
