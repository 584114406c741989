import assert from 'node:assert/strict'
import { configVersion } from '../../guards/rate-limit/config-set.js'
import type { LimitConfigStore } from '../../guards/rate-limit/port.js'
import type { ConfigKey, Level, LevelConfig } from '../../guards/rate-limit/types.js'
import { suite } from '../suite.js'
import { parallel, until } from '../support.js'

const system: ConfigKey = { level: 'system', resource: 'gpt-4' }
const resource: ConfigKey = { level: 'resource', resource: 'gpt-4' }
const entity = (id: string, name = 'gpt-4'): ConfigKey => ({ level: 'entity', entity: id, resource: name })
const config = (capacity: number): LevelConfig => ({
  limits: {
    tpm: { capacity, burst: 2 * capacity, refillAmount: capacity, refillPeriodSeconds: 60 },
    rpm: { capacity: 1, algorithm: 'sliding-window', mode: 'shadow' },
  },
  onUnavailable: 'allow',
})

type Told = [key: string, capacity: number]
const told = (key: ConfigKey, capacity: number): Told => [JSON.stringify(key), capacity]

/** All records of a level, read page by page. */
async function listAll(store: LimitConfigStore, level: Level, limit: number, of?: string): Promise<Told[]> {
  const all: Told[] = []
  let after: ConfigKey | undefined
  do {
    const page = await store.list(level, {
      limit,
      ...(after !== undefined && { after }),
      ...(of !== undefined && { resource: of }),
    })
    assert.ok(page.items.length <= limit)
    for (const { key, config } of page.items) all.push(told(key, config.limits.tpm!.capacity!))
    after = page.next
  } while (after !== undefined)
  return all
}

export const limitConfigSuite = suite<LimitConfigStore>(
  'configuration of limits',
  {
    async 'levels are kept apart, and read in one batch in the order asked'({ one, two }) {
      const full: LevelConfig = { ...config(1), autoUpdate: true, strictVersion: false }
      await one.write(system, full)
      await one.write(resource, config(2))
      await one.write(entity('a:b'), config(3))
      const { configs } = await two.read([entity('a:b'), entity('a'), resource, system], undefined)
      assert.deepEqual(configs, [config(3), undefined, config(2), full])
    },

    async 'what is said of all resources is read with the rest, and listed'({ one, two }) {
      await one.write({ level: 'system', resource: '*' }, config(1))
      await one.write(entity('a:b', '*'), config(2))
      await one.write(entity('a:b'), config(3))
      await one.writeEntity('a:b', { parent: 'p', cascade: true })
      const keys = [entity('a:b'), entity('a:b', '*'), { level: 'system', resource: '*' } as const]
      const found = await two.read(keys, 'a:b')
      assert.deepEqual(found.configs, [config(3), config(2), config(1)])
      assert.deepEqual(found.entity, { parent: 'p', cascade: true })
      assert.deepEqual(
        new Map(await listAll(two, 'entity', 1)),
        new Map([told(entity('a:b'), 3), told(entity('a:b', '*'), 2)]),
      )
    },

    async 'a write takes the place of all that was said before'({ one, two }) {
      await one.write(resource, config(2))
      const bare: LevelConfig = { limits: {}, onUnavailable: 'block' }
      await two.write(resource, bare)
      assert.deepEqual((await one.read([resource], undefined)).configs, [bare])
      assert.equal(await one.remove(resource), true)
      assert.equal(await two.remove(resource), false)
      assert.deepEqual((await two.read([resource], undefined)).configs, [undefined])
    },

    async 'names cannot reach another record'({ one }) {
      const names = ['a', 'a:b', 'b', 'system', 'gpt-4', '__proto__', 'x'.repeat(256)]
      for (const [i, id] of names.entries()) await one.write(entity(id, 'r.1'), config(i + 1))
      const { configs } = await one.read(
        [...names.map((id) => entity(id, 'r.1')), entity('a', 'r')],
        undefined,
      )
      assert.deepEqual(configs, [...names.map((_, i) => config(i + 1)), undefined])
    },

    async 'levels are listed by pages, each once and none of another level'({ one, two }) {
      const names = ['a', 'a:b', 'b', 'system', '__proto__', 'x'.repeat(256)]
      for (const [i, id] of names.entries()) await one.write(entity(id, 'r.1'), config(i + 1))
      await two.write(entity('a', 'r.2'), config(9))
      await two.write(system, config(1))
      await one.write(resource, config(2))
      await one.writeEntity('child', { parent: 'p', cascade: true })
      await one.migrate(2)
      const listed = await listAll(two, 'entity', 2)
      assert.deepEqual(
        new Map(listed),
        new Map([...names.map((id, i) => told(entity(id, 'r.1'), i + 1)), told(entity('a', 'r.2'), 9)]),
      )
      assert.equal(listed.length, 7)
      assert.deepEqual(await listAll(one, 'system', 1), [told(system, 1)])
      assert.deepEqual(await listAll(one, 'resource', 10), [told(resource, 2)])
      assert.deepEqual(await listAll(two, 'entity', 3, 'r.2'), [told(entity('a', 'r.2'), 9)])
      await one.remove(system)
      assert.deepEqual(await two.list('system', { limit: 10 }), { items: [] })
      assert.deepEqual((await listAll(one, 'entity', 7)).length, 7)
    },

    async 'entities have a parent'({ one, two }) {
      assert.equal((await one.read([], 'child')).entity, undefined)
      await one.writeEntity('child', { parent: 'p', cascade: true })
      assert.deepEqual((await two.read([system], 'child')).entity, { parent: 'p', cascade: true })
      assert.equal(await two.removeEntity('child'), true)
      assert.equal(await one.removeEntity('child'), false)
      assert.equal((await one.read([], 'child')).entity, undefined)
    },

    async 'entities with a parent are listed by pages'({ one, two }) {
      const names = ['a', 'a:b', 'b', '__proto__', 'x'.repeat(256)]
      for (const id of names) await one.writeEntity(id, { parent: 'p', cascade: false })
      await one.write(entity('c'), config(1))
      const found: string[] = []
      let after: string | undefined
      do {
        const page = await two.listEntities(after, 2)
        assert.ok(page.items.length <= 2)
        for (const { id, record } of page.items) {
          assert.deepEqual(record, { parent: 'p', cascade: false })
          found.push(id)
        }
        after = page.next
      } while (after !== undefined)
      assert.deepEqual(found.sort(), names.sort())
      await two.removeEntity('a')
      assert.equal((await one.listEntities(undefined, 10)).items.length, names.length - 1)
    },

    async 'a set changes, makes and deletes records of all kinds'({ one, two }) {
      await one.write(system, config(1))
      await one.write(resource, config(2))
      await one.writeEntity('child', { parent: 'p', cascade: true })
      const outcome = await two.changeAll([
        { key: system, config: config(5), ifMatch: configVersion(config(1)) },
        { key: resource, config: undefined, ifMatch: configVersion(config(2)) },
        { key: entity('a:b'), config: config(6), ifMatch: undefined },
        { entity: 'child', record: undefined, ifMatch: configVersion({ parent: 'p', cascade: true }) },
        { entity: 'other', record: { parent: 'q', cascade: false }, ifMatch: undefined },
      ])
      assert.deepEqual(outcome, { outcome: 'changed' })
      const { configs } = await two.read([system, resource, entity('a:b')], undefined)
      assert.deepEqual(configs, [config(5), undefined, config(6)])
      assert.deepEqual(await listAll(one, 'entity', 5), [told(entity('a:b'), 6)])
      assert.deepEqual(await listAll(one, 'resource', 5), [])
      const { items } = await one.listEntities(undefined, 10)
      assert.deepEqual(items, [{ id: 'other', record: { parent: 'q', cascade: false } }])
      assert.deepEqual(await two.changeAll([]), { outcome: 'changed' })
    },

    async 'of a set nothing is made if a record is not as expected'({ one, two }) {
      await one.write(resource, config(2))
      const outcome = await two.changeAll([
        { key: system, config: config(5), ifMatch: undefined },
        { key: resource, config: config(3), ifMatch: configVersion(config(9)) },
        { key: entity('a'), config: undefined, ifMatch: configVersion(config(9)) },
        { entity: 'child', record: { parent: 'q', cascade: true }, ifMatch: configVersion(config(9)) },
      ])
      assert.deepEqual(outcome, { outcome: 'conflict', at: [1, 2, 3], changed: 0 })
      const { configs } = await two.read([system, resource], undefined)
      assert.deepEqual(configs, [undefined, config(2)])
    },

    async 'a set may be larger than a transaction'({ one, two }) {
      const keys = Array.from({ length: 150 }, (_, i) => entity(`e-${i}`))
      const set = (from: number, to: number | undefined) =>
        keys.map((key) => ({
          key,
          config: to === undefined ? undefined : config(to),
          ifMatch: from === 0 ? undefined : configVersion(config(from)),
        }))
      assert.deepEqual(await one.changeAll(set(0, 1)), { outcome: 'changed' })
      assert.equal((await listAll(two, 'entity', 100)).length, 150)
      assert.deepEqual(await two.changeAll(set(1, undefined)), { outcome: 'changed' })
      assert.deepEqual(await listAll(one, 'entity', 100), [])
    },

    async 'the version of the schema only grows'({ one, two }) {
      assert.equal((await one.read([], undefined)).schemaVersion, 1)
      await one.migrate(3)
      await two.migrate(2)
      assert.equal((await two.read([], undefined)).schemaVersion, 3)
    },

    async 'instances hear of a set'({ one, two }) {
      let isHeard = false
      const stop = two.watch(() => {
        isHeard = true
      })
      await one.changeAll([{ key: system, config: config(1), ifMatch: undefined }])
      await until('the notice', () => isHeard)
      stop()
    },

    async 'instances hear of a change'({ one, two }) {
      let isHeard = false
      const stop = two.watch(() => {
        isHeard = true
      })
      await one.write(system, config(1))
      await until('the notice', () => isHeard)
      stop()
      assert.deepEqual((await two.read([system], undefined)).configs, [config(1)])
    },
  },
  {
    async 'of many secrets one is kept, and told to all'(pair) {
      const secrets = await parallel(pair, 12, (store, i) => store.secret(`secret-${i}`))
      assert.equal(new Set(secrets).size, 1)
      assert.match(secrets[0]!, /^secret-\d+$/)
    },

    async 'of many sets that change the same record one is made, and whole'(pair) {
      const outcomes = await parallel(pair, 12, (store, i) =>
        store.changeAll([
          { key: system, config: config(i + 1), ifMatch: undefined },
          { key: entity(`e-${i}`), config: config(i + 1), ifMatch: undefined },
          { entity: `e-${i}`, record: { parent: 'p', cascade: true }, ifMatch: undefined },
        ]),
      )
      const made = outcomes.flatMap(({ outcome }, i) => (outcome === 'changed' ? [i] : []))
      assert.equal(made.length, 1)
      const [winner] = made
      assert.deepEqual(await listAll(pair.two, 'system', 5), [told(system, winner! + 1)])
      assert.deepEqual(await listAll(pair.one, 'entity', 50), [told(entity(`e-${winner}`), winner! + 1)])
      const { items } = await pair.two.listEntities(undefined, 50)
      assert.deepEqual(
        items.map(({ id }) => id),
        [`e-${winner}`],
      )
    },

    async 'of many writes at once each is listed'(pair) {
      await parallel(pair, 12, (store, i) => store.write(entity(`e-${i}`), config(i + 1)))
      const listed = await listAll(pair.two, 'entity', 5)
      assert.deepEqual(
        new Set(listed),
        new Set(Array.from({ length: 12 }, (_, i) => told(entity(`e-${i}`), i + 1))),
      )
    },

    async 'of many removals exactly one removes'(pair) {
      await pair.one.write(system, config(1))
      const removed = await parallel(pair, 12, (store) => store.remove(system))
      assert.equal(removed.filter(Boolean).length, 1)
    },
  },
)
