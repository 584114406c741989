import assert from 'node:assert/strict'
import { pausedConfig, resumedConfig } from '../../guards/allowlist/pause.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import { allMembers, customer, fixa, holds, NOW, newFixa, parallel, SALT, sweepAll } from '../support.js'

const count = <T extends { outcome: string }>(results: T[], outcome: string): number =>
  results.filter((result) => result.outcome === outcome).length

export const listSuite = suite<AllowlistEngine>(
  'allowlist lists',
  {
    async 'a created list is read back whole, by both instances'({ one, two }) {
      const config = { strategy: 'PERCENTAGE', percentage: 0.25, ramp: [{ at: 1, percentage: 0.5 }] } as const
      const created = await one.lists.create(
        {
          id: 'wave',
          name: 'Onda «é»',
          type: 'ONDA',
          precision: 'exact',
          salt: SALT,
          config: { ...config, ramp: [...config.ramp] },
        },
        NOW,
      )
      assert.equal(created.outcome, 'created')
      const read = await two.lists.get('wave')
      assert.deepEqual(read, (created as { list: unknown }).list)
      const { incarnation, shardCount, ...rest } = read!
      assert.equal(typeof incarnation, 'number')
      assert.ok(Number.isInteger(shardCount) && shardCount >= 1)
      assert.deepEqual(rest, {
        id: 'wave',
        name: 'Onda «é»',
        type: 'ONDA',
        precision: 'exact',
        salt: SALT,
        config,
        customerCount: 0,
        version: 1,
        createdAt: NOW,
        updatedAt: NOW,
      })
    },

    async 'an id is taken once'({ one, two }) {
      await newFixa(one, 'a')
      assert.deepEqual(await two.lists.create(fixa('a'), NOW), { outcome: 'exists' })
    },

    async 'ids that are names of object properties are ids like any other'({ one }) {
      for (const id of ['__proto__', 'constructor', 'toString']) {
        assert.equal(await one.lists.get(id), undefined)
        await newFixa(one, id)
        assert.equal((await one.lists.get(id))?.id, id)
      }
    },

    async 'lists page by id'({ one }) {
      for (const id of ['b', 'a', 'd', 'c', '10', 'B']) await newFixa(one, id)
      const first = await one.lists.page(undefined, 4)
      const second = await one.lists.page(first.at(-1)!.id, 4)
      const ids = [...first, ...second].map((list) => list.id)
      assert.deepEqual(ids, ['10', 'B', 'a', 'b', 'c', 'd'])
      assert.deepEqual(await one.lists.page('d', 4), [])
    },

    async 'an update changes what it names and counts one version'({ one, two }) {
      await newFixa(one, 'a')
      const updated = await one.lists.update('a', { name: 'New' }, NOW + 5)
      assert.equal(updated.outcome, 'updated')
      const list = await two.lists.get('a')
      assert.equal(list?.name, 'New')
      assert.equal(list?.version, 2)
      assert.equal(list?.updatedAt, NOW + 5)
      assert.deepEqual(await one.lists.update('none', { name: 'x' }, NOW), { outcome: 'not-found' })
    },

    async 'labels are read back, each changes alone, and empty ones are gone'({ one, two }) {
      const labels = { tags: ['a', 'b/é'.normalize()], owner: 'Ana «é»', description: 'two\nlines' }
      const created = await one.lists.create({ ...fixa('a'), ...labels }, NOW)
      assert.deepEqual((created as { list: unknown }).list, await two.lists.get('a'))
      const labelsNow = async () => {
        const { tags, owner, description } = (await two.lists.get('a'))!
        return { tags, owner, description }
      }
      assert.deepEqual(await labelsNow(), labels)
      await two.lists.update('a', { owner: 'bob' }, NOW)
      assert.deepEqual(await labelsNow(), { ...labels, owner: 'bob' })
      await one.lists.update('a', { name: 'other' }, NOW)
      const updated = await one.lists.update('a', { tags: [], description: '' }, NOW)
      assert.deepEqual(await labelsNow(), { tags: undefined, owner: 'bob', description: undefined })
      assert.deepEqual((updated as { list: unknown }).list, await two.lists.get('a'))
      const [listed] = await one.lists.page(undefined, 10)
      assert.equal(listed?.owner, 'bob')
      await newFixa(one, 'plain')
      const { tags, owner, description } = (await one.lists.get('plain'))!
      assert.deepEqual([tags, owner, description], [undefined, undefined, undefined])
    },

    async 'what a pause keeps of the rule is read back whole'({ one, two }) {
      const rule = { strategy: 'PERCENTAGE', percentage: 0.25, ramp: [{ at: 1, percentage: 0.5 }] } as const
      const config = { ...rule, ramp: [...rule.ramp], startTime: 5, endTime: NOW * 2 }
      const list = { id: 'wave', name: 'Wave', type: 'ONDA', precision: 'exact', salt: SALT } as const
      await one.lists.create({ ...list, config }, NOW)
      const paused = pausedConfig(config, NOW)
      await one.lists.update('wave', { config: paused, ifVersion: 1 }, NOW)
      const stored = (await two.lists.get('wave'))?.config
      assert.deepEqual(stored, paused)
      assert.deepEqual(resumedConfig(stored!), config)
    },

    async 'an update with another version changes nothing'({ one }) {
      await newFixa(one, 'a')
      const outcome = await one.lists.update('a', { name: 'New', ifVersion: 7 }, NOW)
      assert.deepEqual(outcome, { outcome: 'version-mismatch', version: 1 })
      assert.equal((await one.lists.get('a'))?.name, 'List a')
    },

    async 'a set makes, changes and deletes lists'({ one, two }) {
      for (const id of ['a', 'b']) await newFixa(one, id)
      const config = { strategy: 'PERCENTAGE', percentage: 0.25 } as const
      const wave = { id: 'w', name: 'W', type: 'ONDA', precision: 'exact', salt: SALT } as const
      const outcome = await two.lists.changeAll(
        [
          { step: 'create', list: fixa('c') },
          { step: 'create', list: { ...wave, config: { ...config, base: 'c' } } },
          { step: 'update', id: 'a', ifVersion: 1, name: 'New' },
          { step: 'delete', id: 'b', ifVersion: 1 },
        ],
        NOW + 5,
      )
      assert.deepEqual(outcome, { outcome: 'changed' })
      const lists = await one.lists.page(undefined, 10)
      assert.deepEqual(
        lists.map(({ id, name, version }) => [id, name, version]),
        [
          ['a', 'New', 2],
          ['c', 'List c', 1],
          ['w', 'W', 1],
        ],
      )
      assert.deepEqual(lists[2]!.config, { ...config, base: 'c' })
      assert.equal(lists[0]!.updatedAt, NOW + 5)
      const again = await one.lists.changeAll([{ step: 'create', list: fixa('b') }], NOW)
      assert.deepEqual(again, { outcome: 'being-deleted', ids: ['b'], changed: 0 })
    },

    async 'of a set nothing is made if a list is not as expected'({ one, two }) {
      for (const id of ['a', 'b']) await newFixa(one, id)
      await one.lists.update('b', { name: 'Other' }, NOW)
      const outcome = await two.lists.changeAll(
        [
          { step: 'create', list: fixa('c') },
          { step: 'create', list: fixa('a') },
          { step: 'update', id: 'b', ifVersion: 1, name: 'New' },
          { step: 'delete', id: 'none', ifVersion: 1 },
        ],
        NOW,
      )
      assert.deepEqual(outcome, { outcome: 'conflict', ids: ['a', 'b', 'none'], changed: 0 })
      assert.deepEqual(
        (await one.lists.page(undefined, 10)).map(({ name }) => name),
        ['List a', 'Other'],
      )
    },

    async 'a deleted list is gone at once and its id is free after the sweep'({ one, two }) {
      const before = await newFixa(one, 'a')
      await one.members.add('a', customer(1), {}, NOW)
      assert.equal(await one.lists.delete('a', NOW), true)
      assert.equal(await two.lists.delete('a', NOW), false)
      assert.equal(await two.lists.get('a'), undefined)
      assert.deepEqual(await one.lists.page(undefined, 10), [])
      const view = await two.checks.view('strong')
      assert.equal(await view.list('a'), undefined)
      assert.deepEqual(await one.lists.create(fixa('a'), NOW), { outcome: 'being-deleted' })
      await sweepAll(two)
      assert.notEqual(await newFixa(one, 'a'), before)
    },

    async 'old members never come back with a new list of the same id'({ one, two }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), {}, NOW)
      await one.lists.delete('a', NOW)
      await sweepAll(one)
      await newFixa(two, 'a')
      assert.equal(await holds(one, 'a', customer(1)), false)
      assert.deepEqual(await allMembers(two, 'a'), [])
      assert.deepEqual(await two.members.listsOf(customer(1), undefined, 10), [])
      assert.equal((await two.lists.get('a'))?.customerCount, 0)
    },
  },
  {
    async 'of many creations of one id exactly one succeeds'(pair) {
      const results = await parallel(pair, 16, (engine) => engine.lists.create(fixa('a'), NOW))
      assert.equal(count(results, 'created'), 1)
      assert.equal(count(results, 'exists'), 15)
    },

    async 'of many updates from one version exactly one succeeds'(pair) {
      await newFixa(pair.one, 'a')
      const results = await parallel(pair, 16, (engine, i) =>
        engine.lists.update('a', { name: `n${i}`, ifVersion: 1 }, NOW),
      )
      assert.equal(count(results, 'updated'), 1)
      assert.equal((await pair.two.lists.get('a'))?.version, 2)
    },

    async 'of many sets that change the same list one succeeds'(pair) {
      await newFixa(pair.one, 'a')
      const results = await parallel(pair, 8, (engine, i) =>
        engine.lists.changeAll([{ step: 'update', id: 'a', ifVersion: 1, name: `n${i}` }], NOW),
      )
      assert.equal(count(results, 'changed'), 1)
      assert.equal((await pair.two.lists.get('a'))?.version, 2)
    },

    async 'updates without a version are all counted'(pair) {
      await newFixa(pair.one, 'a')
      await parallel(pair, 20, (engine, i) => engine.lists.update('a', { name: `n${i}` }, NOW))
      assert.equal((await pair.two.lists.get('a'))?.version, 21)
    },

    async 'of many deletions exactly one deletes'(pair) {
      await newFixa(pair.one, 'a')
      const results = await parallel(pair, 16, (engine) => engine.lists.delete('a', NOW))
      assert.equal(results.filter(Boolean).length, 1)
    },

    async 'members added while the list is deleted are nowhere afterwards'(pair) {
      await newFixa(pair.one, 'a')
      await parallel(
        pair,
        60,
        (engine, i): Promise<unknown> =>
          i === 30 ? engine.lists.delete('a', NOW) : engine.members.add('a', customer(i), {}, NOW),
      )
      await sweepAll(pair.one)
      await newFixa(pair.two, 'a')
      assert.deepEqual(await allMembers(pair.one, 'a'), [])
      for (let i = 0; i < 60; i++)
        assert.deepEqual(await pair.one.members.listsOf(customer(i), undefined, 10), [])
    },
  },
)
