import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCatracaError } from '../../../src/core/errors.js'
import { parseWaveConfig } from '../../../src/guards/allowlist/wave/config.js'

const share = fc.double({ min: -0, max: 1, noNaN: true })
const time = fc.oneof(fc.constantFrom(-0, 0, 8.64e15), fc.nat())
const name = fc.string({ unit: fc.constantFrom(...'aZ09.-_'), minLength: 3, maxLength: 8 })
const times = fc.uniqueArray(time, { minLength: 2, maxLength: 6, comparator: (a, b) => a === b })
const ascending = times.map((values) => values.sort((a, b) => a - b))

const common = {
  window: ascending.map(([startTime, endTime]) => ({ startTime, endTime })),
  lists: fc
    .uniqueArray(name, { minLength: 1, maxLength: 4 })
    .map(([base, ...exclude]) => ({ base, exclude })),
}
const ramp = ascending.chain((values) =>
  fc.tuple(...values.map((at) => share.map((percentage) => ({ at, percentage })))),
)
const rule = fc.oneof(
  fc.record({ strategy: fc.constant('PERCENTAGE'), percentage: share }),
  fc.record({ strategy: fc.constant('PERCENTAGE'), ramp, percentage: fc.option(share, { nil: undefined }) }),
  fc.record({ strategy: fc.constant('EXPLICIT_LIST'), customerIds: fc.array(fc.oneof(name, fc.uuid())) }),
  fc.constant({ strategy: 'TIME_WINDOW' }),
)
const validConfig = fc
  .tuple(rule, common.window, common.lists)
  .map(([fields, window, lists]) => ({ ...fields, ...window, ...lists }))

test('a parsed config survives a store unchanged, and parses to itself', () => {
  fc.assert(
    fc.property(validConfig, (config) => {
      const parsed = parseWaveConfig('config', config)
      const stored = JSON.parse(JSON.stringify(parsed))
      assert.deepEqual(stored, parsed)
      assert.deepEqual(parseWaveConfig('config', stored), parsed)
    }),
  )
})

test('whatever is wrong is refused as input, never by a crash', () => {
  const junk = fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true })
  const spoilt = fc
    .tuple(
      validConfig,
      fc.dictionary(fc.constantFrom('ramp', 'exclude', 'base', '__proto__', 'endTime'), junk),
    )
    .map(([config, fields]) => Object.assign(Object.create(null), config, fields))
  let refused = 0
  fc.assert(
    fc.property(fc.oneof(junk, spoilt), (value) => {
      try {
        parseWaveConfig('config', value)
      } catch (error) {
        assert.ok(isCatracaError(error, 'INVALID_INPUT'), String(error))
        assert.ok(error.errors?.every(({ path, message }) => path.startsWith('config') && message !== ''))
        refused++
      }
    }),
    { numRuns: 1000 },
  )
  assert.ok(refused > 500)
})
