import assert from 'node:assert/strict'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import {
  allMembers,
  countOf,
  customer,
  customers,
  holds,
  NOW,
  newFixa,
  parallel,
  sweepAll,
} from '../support.js'

export const memberSuite = suite<AllowlistEngine>(
  'allowlist members',
  {
    async 'an added member is read back whole'({ one, two }) {
      await newFixa(one, 'a')
      const attributes = {
        addedBy: 'admin@company.com',
        metadata: { plan: 'gold', nested: { deep: [1, null, 'é'] } },
        expiresAt: NOW + 1000,
      }
      const added = await one.members.add('a', customer(1), attributes, NOW)
      assert.equal(added.outcome, 'added')
      assert.equal((added as { customerCount: number }).customerCount, 1)
      const member = await two.members.get('a', customer(1))
      assert.deepEqual(member, { customerId: customer(1), addedAt: NOW, ...attributes })
      assert.equal(await one.members.get('a', customer(2)), undefined)
      assert.equal(await one.members.get('none', customer(1)), undefined)
    },

    async 'adding again replaces the attributes and keeps the moment'({ one }) {
      await newFixa(one, 'a')
      await one.members.add(
        'a',
        customer(1),
        { addedBy: 'x', metadata: { a: 1 }, expiresAt: NOW + 1000 },
        NOW,
      )
      const again = await one.members.add('a', customer(1), { addedBy: 'y' }, NOW + 10)
      assert.equal(again.outcome, 'replaced')
      assert.equal((again as { customerCount: number }).customerCount, 1)
      assert.deepEqual(await one.members.get('a', customer(1)), {
        customerId: customer(1),
        addedAt: NOW,
        addedBy: 'y',
      })
    },

    async 'removing tells whether anything was there'({ one, two }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), { expiresAt: NOW + 5 }, NOW)
      assert.equal((await two.members.remove('a', customer(1), NOW)).outcome, 'removed')
      assert.equal((await one.members.remove('a', customer(1), NOW)).outcome, 'absent')
      assert.equal((await one.members.remove('none', customer(1), NOW)).outcome, 'list-not-found')
      assert.equal((await one.members.add('none', customer(1), {}, NOW)).outcome, 'list-not-found')
      assert.equal(await countOf(two, 'a'), 0)
      assert.equal(await holds(two, 'a', customer(1)), false)
    },

    async 'a list knows when its members changed'({ one }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), {}, NOW + 7)
      assert.equal((await one.lists.get('a'))?.updatedAt, NOW + 7)
      assert.equal((await one.lists.get('a'))?.version, 1)
    },

    async 'members page without gaps or repeats, whatever the limit'({ one }) {
      await newFixa(one, 'a')
      await newFixa(one, 'b')
      const ids = customers(0, 40)
      for (const id of ids) await one.members.add('a', id, {}, NOW)
      await one.members.add('b', 'other', {}, NOW)
      for (const limit of [1, 7, 39, 40, 41, 1000]) {
        const found = await allMembers(one, 'a', limit)
        assert.deepEqual(found.toSorted(), ids.toSorted(), `limit ${limit}`)
      }
      assert.equal(await one.members.page('none', undefined, 10), undefined)
    },

    async 'pages of a prefix hold exactly the members whose id begins so'({ one, two }) {
      await newFixa(one, 'a')
      const uuids = ['9e3', '9e4', 'a00'].map((start) => `${start}00000-0000-4000-8000-000000000001`)
      const others = ['9e', '9e30', '9e3~z', '9d', 'customer-1', 'customer-2', 'A']
      for (const id of [...uuids, ...others]) await one.members.add('a', id, {}, NOW)
      const found = async (prefix: string, limit: number) => {
        const ids: string[] = []
        let after: string | undefined
        for (let pages = 0; pages < 100; pages++) {
          const page = (await two.members.page('a', after, limit, prefix))!
          ids.push(...page.members.map(({ customerId }) => customerId))
          if (page.next === undefined) return ids.sort()
          after = page.next
        }
        throw new Error('the pages have no end')
      }
      for (const prefix of ['9e', '9e3', '9e300000-0', uuids[0]!, 'customer-', 'c', 'A', 'a', 'zz', '~']) {
        const expected = [...uuids, ...others].filter((id) => id.startsWith(prefix)).sort()
        for (const limit of [1, 2, 100]) assert.deepEqual(await found(prefix, limit), expected, prefix)
      }
      assert.equal(await one.members.page('none', undefined, 10, 'a'), undefined)
    },

    async 'pages go on behind a member that was removed meanwhile'({ one }) {
      await newFixa(one, 'a')
      for (const id of customers(0, 10)) await one.members.add('a', id, {}, NOW)
      const first = (await one.members.page('a', undefined, 5))!
      await one.members.remove('a', first.members.at(-1)!.customerId, NOW)
      const second = (await one.members.page('a', first.next, 100))!
      // No member that stayed may be missing. An engine without an order may return some again when its store moves
      // them.
      const told = new Set([...first.members, ...second.members].map(({ customerId }) => customerId))
      assert.deepEqual([...told].toSorted(), customers(0, 10).toSorted())
      assert.equal(first.members.length, 5)
      assert.ok(second.members.length >= 5)
    },

    async 'the lists of a customer are found, by id'({ one, two }) {
      for (const id of ['c', 'a', 'b', 'd']) await newFixa(one, id)
      for (const id of ['c', 'a', 'b']) await one.members.add(id, customer(1), {}, NOW)
      await one.members.add('d', customer(2), {}, NOW)
      await one.members.add('a', `${customer(1)}0`, {}, NOW)
      await one.members.remove('b', customer(1), NOW)
      const found = await two.members.listsOf(customer(1), undefined, 10)
      assert.deepEqual(
        found.map(({ list, member }) => [list.id, member.customerId]),
        [
          ['a', customer(1)],
          ['c', customer(1)],
        ],
      )
      const rest = await two.members.listsOf(customer(1), 'a', 10)
      assert.deepEqual(
        rest.map(({ list }) => list.id),
        ['c'],
      )
      assert.equal((await two.members.listsOf(customer(1), undefined, 1)).length, 1)
    },

    async 'ids that begin alike are not mixed up'({ one }) {
      await newFixa(one, 'a')
      const ids = [
        '1',
        '12',
        '123',
        '1:',
        '1:2',
        'x~',
        'x',
        '__proto__',
        'constructor',
        'A',
        'a',
        `${'z'.repeat(256)}`,
      ]
      for (const id of ids) await one.members.add('a', id, {}, NOW)
      for (const id of ids) {
        assert.equal(await holds(one, 'a', id), true, id)
        assert.equal((await one.members.listsOf(id, undefined, 10)).length, 1, id)
      }
      for (const id of ['2', '1234', 'X', `${'z'.repeat(255)}`])
        assert.equal(await holds(one, 'a', id), false, id)
      assert.equal(await countOf(one, 'a'), ids.length)
    },

    async 'an expired member can be added anew'({ one }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), { expiresAt: NOW + 5 }, NOW)
      const again = await one.members.add('a', customer(1), {}, NOW + 5)
      assert.equal(again.outcome, 'added')
      assert.equal((await one.members.get('a', customer(1)))?.addedAt, NOW + 5)
      await sweepAll(one, NOW + 100)
      assert.equal(await holds(one, 'a', customer(1)), true)
      assert.equal(await countOf(one, 'a'), 1)
    },

    async 'expired members are swept, counted down and forgotten'({ one, two }) {
      await newFixa(one, 'a')
      for (let i = 0; i < 10; i++) {
        await one.members.add('a', customer(i), i < 6 ? { expiresAt: NOW + i + 1 } : {}, NOW)
      }
      await sweepAll(two, NOW + 3)
      assert.equal(await countOf(one, 'a'), 7)
      await sweepAll(two, NOW + 100)
      assert.equal(await countOf(one, 'a'), 4)
      assert.deepEqual((await allMembers(one, 'a')).toSorted(), customers(6, 10).toSorted())
      assert.deepEqual(await one.members.listsOf(customer(1), undefined, 10), [])
    },

    async 'a member whose expiry was taken back is not swept'({ one }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), { expiresAt: NOW + 5 }, NOW)
      await one.members.add('a', customer(1), { expiresAt: NOW + 500 }, NOW)
      await one.members.add('a', customer(2), { expiresAt: NOW + 5 }, NOW)
      await one.members.add('a', customer(2), {}, NOW)
      await sweepAll(one, NOW + 50)
      assert.equal(await countOf(one, 'a'), 2)
    },
  },
  {
    async 'of many adds of one customer exactly one adds'(pair) {
      await newFixa(pair.one, 'a')
      const results = await parallel(pair, 40, (engine) => engine.members.add('a', customer(1), {}, NOW))
      assert.equal(results.filter(({ outcome }) => outcome === 'added').length, 1)
      assert.equal(await countOf(pair.two, 'a'), 1)
    },

    async 'of many removals exactly one removes'(pair) {
      await newFixa(pair.one, 'a')
      await pair.one.members.add('a', customer(1), {}, NOW)
      const results = await parallel(pair, 40, (engine) => engine.members.remove('a', customer(1), NOW))
      assert.equal(results.filter(({ outcome }) => outcome === 'removed').length, 1)
      assert.equal(await countOf(pair.two, 'a'), 0)
    },

    async 'counts stay exact while the same customers are added and removed'(pair) {
      await newFixa(pair.one, 'a')
      const results = await parallel(pair, 400, (engine, i): Promise<{ outcome: string }> => {
        const id = customer((i * 7) % 11)
        const verb = Math.imul(i, 0x9e3779b1) & 0x10000 ? 'add' : 'remove'
        return verb === 'add' ? engine.members.add('a', id, {}, NOW) : engine.members.remove('a', id, NOW)
      })
      const added = results.filter(({ outcome }) => outcome === 'added').length
      const removed = results.filter(({ outcome }) => outcome === 'removed').length
      const members = await allMembers(pair.one, 'a')
      assert.equal(members.length, added - removed)
      assert.equal(await countOf(pair.two, 'a'), members.length)
    },

    async 'an expired member is swept once, by however many sweepers'(pair) {
      await newFixa(pair.one, 'a')
      for (let i = 0; i < 30; i++) await pair.one.members.add('a', customer(i), { expiresAt: NOW + 1 }, NOW)
      await pair.one.members.add('a', 'stays', {}, NOW)
      await parallel(pair, 8, (engine) => engine.upkeep.sweep(NOW + 10))
      await sweepAll(pair.one, NOW + 10)
      assert.equal(await countOf(pair.two, 'a'), 1)
    },
  },
)
