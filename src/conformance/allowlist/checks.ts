import assert from 'node:assert/strict'
import { isCatracaError } from '../../core/errors.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import { customer, holds, NOW, newFixa, parallel } from '../support.js'

export const checkSuite = suite<AllowlistEngine>(
  'allowlist checks',
  {
    async 'a check sees members and their moments'({ one }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), {}, NOW)
      await one.members.add('a', customer(2), { expiresAt: NOW + 9, metadata: { a: 1 } }, NOW + 1)
      const view = await one.checks.view('strong')
      const list = (await view.list('a'))!
      assert.deepEqual(await view.member(list, customer(1)), { addedAt: NOW })
      assert.deepEqual(await view.member(list, customer(2)), { addedAt: NOW + 1, expiresAt: NOW + 9 })
      assert.equal(await view.member(list, customer(3)), undefined)
      assert.equal(await view.list('none'), undefined)
    },

    async 'a strong check sees what the other instance has just written'({ one, two }) {
      await newFixa(one, 'a')
      for (let i = 0; i < 50; i++) {
        await one.members.add('a', customer(i), {}, NOW)
        assert.equal(await holds(two, 'a', customer(i)), true)
        await one.members.remove('a', customer(i), NOW)
        assert.equal(await holds(two, 'a', customer(i)), false)
      }
    },

    async 'a check that carries the token of a write sees it, on either instance'({ one, two }) {
      await newFixa(one, 'a')
      for (let i = 0; i < 50; i++) {
        const { token } = (await one.members.add('a', customer(i), {}, NOW)) as { token: string }
        const view = await two.checks.view({ atLeast: token })
        const list = (await view.list('a'))!
        assert.deepEqual(await view.member(list, customer(i)), { addedAt: NOW })
      }
    },

    async 'a changed list is seen by the other instance'({ one, two }) {
      await newFixa(one, 'a')
      assert.equal((await (await two.checks.view('strong')).list('a'))?.name, 'List a')
      await one.lists.update('a', { name: 'New' }, NOW)
      assert.equal((await (await two.checks.view('strong')).list('a'))?.name, 'New')
    },

    async 'a list that was missing is found once it exists'({ one, two }) {
      assert.equal(await (await two.checks.view('strong')).list('late'), undefined)
      await newFixa(one, 'late')
      assert.equal((await (await two.checks.view('strong')).list('late'))?.id, 'late')
    },

    async 'what is not a token of this store is refused'({ one }) {
      for (const atLeast of ['', 'x', 'e..', 'e.zz.1.1', '../..', 'e.1.1.1.1', '💥']) {
        await assert.rejects(
          async () => one.checks.view({ atLeast }),
          (error) => isCatracaError(error, 'INVALID_INPUT'),
        )
      }
    },
  },
  {
    async 'with its token no check misses its write, among many writers'(pair) {
      await newFixa(pair.one, 'a')
      const seen = await parallel(pair, 60, async (engine, i) => {
        const { token } = (await engine.members.add('a', customer(i), {}, NOW)) as { token: string }
        const other = engine === pair.one ? pair.two : pair.one
        const view = await other.checks.view({ atLeast: token })
        return (await view.member((await view.list('a'))!, customer(i))) !== undefined
      })
      assert.deepEqual(seen, new Array(60).fill(true))
    },
  },
)
