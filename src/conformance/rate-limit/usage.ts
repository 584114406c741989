import assert from 'node:assert/strict'
import type { EntityUse, LimitUse, UsageHour, UsageStore } from '../../guards/rate-limit/port.js'
import { suite } from '../suite.js'
import { NOW, parallel } from '../support.js'

const HOUR_MS = 3_600_000
const KEPT = { entities: 3, ms: 24 * HOUR_MS }

const use = (admitted: number, denied: number, limit = 'rpm'): LimitUse => ({ limit, admitted, denied })
const by = (entity: string, admitted: number, denied = 0, limit = 'rpm'): EntityUse => ({
  entity,
  ...use(admitted, denied, limit),
})
const hour = (start: number, totals: LimitUse[], entities: EntityUse[] = []): UsageHour => ({
  resource: 'gpt-4',
  start,
  totals,
  entities,
})

export const usageSuite = suite<UsageStore>(
  'usage of limits',
  {
    async 'adds up, by resource and hour, oldest first'({ one, two }) {
      await one.count(
        [hour(NOW + HOUR_MS, [use(1, 2)]), hour(NOW, [use(5, 0), use(7, 1, 'tpm')], [by('a:b', 5)])],
        KEPT,
      )
      await two.count(
        [
          hour(NOW, [use(10, 3)], [by('a:b', 9, 3), by('a', 1)]),
          { ...hour(NOW, [use(9, 9)]), resource: 'gpt' },
        ],
        KEPT,
      )
      const first = hour(NOW, [use(15, 3), use(7, 1, 'tpm')], [by('a', 1), by('a:b', 14, 3)])
      assert.deepEqual(await one.read('gpt-4', NOW, NOW + 2 * HOUR_MS), [
        first,
        hour(NOW + HOUR_MS, [use(1, 2)]),
      ])
      assert.deepEqual(await two.read('gpt-4', NOW + 1, NOW + HOUR_MS), [])
    },

    async 'keeps the heaviest entities, and exact totals'({ one, two }) {
      for (let i = 0; i < 40; i++) {
        const uses = [by('heavy', 10, 1), by(`stranger-${i}`, 1), by('heavier', 0, 20, 'tpm')]
        await (i % 2 === 0 ? one : two).count([hour(NOW, [use(11, 1), use(0, 20, 'tpm')], uses)], KEPT)
      }
      const [found] = await one.read('gpt-4', NOW, NOW + 1)
      assert.deepEqual(found!.totals, [use(440, 40), use(0, 800, 'tpm')])
      const heavy = found!.entities.filter(({ entity }) => entity.startsWith('heav'))
      assert.deepEqual(heavy, [by('heavier', 0, 800, 'tpm'), by('heavy', 400, 40)])
      assert.ok(found!.entities.length <= 2 * KEPT.entities, `${found!.entities.length} entities`)
    },

    async 'forgets what is old'({ one, two }) {
      await one.count([hour(NOW, [use(1, 0)]), hour(NOW + HOUR_MS, [use(2, 0)])], KEPT)
      while ((await two.forget(NOW)).more);
      assert.equal((await one.read('gpt-4', NOW, NOW + 2 * HOUR_MS)).length, 2)
    },
  },
  {
    async 'counts of many at once are all there'(pair) {
      await parallel(pair, 20, (store) => store.count([hour(NOW, [use(1, 2)], [by('a', 1, 2)])], KEPT))
      assert.deepEqual(await pair.two.read('gpt-4', NOW, NOW + 1), [
        hour(NOW, [use(20, 40)], [by('a', 20, 40)]),
      ])
    },
  },
)
