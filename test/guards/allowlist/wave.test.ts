import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCatracaError } from '../../../src/core/errors.js'
import type { WaveConfig } from '../../../src/guards/allowlist/types.js'
import { insideWindow } from '../../../src/guards/allowlist/wave/common-fields.js'
import { placeBy } from '../../../src/guards/allowlist/wave/hash.js'
import { compileWave } from '../../../src/guards/allowlist/wave/index.js'

const SALT = '9f86d081884c7d659a2feaa0c55ad015'
const NOW = Date.UTC(2024, 5, 1)
const CUSTOMERS = Array.from({ length: 500 }, (_, i) => `customer-${i}`)

type Wave = ReturnType<typeof wave>
const wave = (config: WaveConfig, salt = SALT) => ({ config, ...compileWave({ config, salt }) })
const evaluateWave = ({ config, admission }: Wave, id: string, now: number): string => {
  if (!insideWindow(config, now)) return 'OUTSIDE_WINDOW'
  return admission.admits(id, now) ? 'IN_WAVE' : 'OUT_OF_WAVE'
}
const effectivePercentage = ({ admission }: Wave, now: number) => admission.facts!('any', now).percentage
const insiders = (compiled: Wave, now = NOW): string[] =>
  CUSTOMERS.filter((id) => evaluateWave(compiled, id, now) === 'IN_WAVE')

const share = fc.double({ min: 0, max: 1, noNaN: true })

test('a customer is in when its place is below the percentage, not at it', () => {
  const place = placeBy(SALT)('maria')
  const at = (percentage: number) => evaluateWave(wave({ strategy: 'PERCENTAGE', percentage }), 'maria', NOW)
  assert.equal(at(place), 'OUT_OF_WAVE')
  assert.equal(at(place + 2 ** -32), 'IN_WAVE')
})

test('percentage 0 admits nobody, 1 everybody', () => {
  // The customers that stand nearest to both ends among the published vectors.
  for (const id of ['225', '2373', ...CUSTOMERS]) {
    assert.equal(evaluateWave(wave({ strategy: 'PERCENTAGE', percentage: 0 }), id, NOW), 'OUT_OF_WAVE')
    assert.equal(evaluateWave(wave({ strategy: 'PERCENTAGE', percentage: 1 }), id, NOW), 'IN_WAVE')
  }
})

test('raising the percentage keeps everyone who was in', () => {
  fc.assert(
    fc.property(share, share, (x, y) => {
      const fewer = insiders(wave({ strategy: 'PERCENTAGE', percentage: Math.min(x, y) }))
      const more = new Set(insiders(wave({ strategy: 'PERCENTAGE', percentage: Math.max(x, y) })))
      assert.ok(fewer.every((id) => more.has(id)))
    }),
  )
})

test('a rising ramp never puts anybody out', () => {
  const rising = fc
    .array(share, { minLength: 1, maxLength: 8 })
    .map((shares) => shares.sort((a, b) => a - b).map((percentage, i) => ({ at: NOW + i * 10, percentage })))
  fc.assert(
    fc.property(
      rising,
      fc.array(fc.integer({ min: -5, max: 100 }), { minLength: 2, maxLength: 2 }),
      (ramp, at) => {
        const compiled = wave({ strategy: 'PERCENTAGE', ramp })
        const later = new Set(insiders(compiled, NOW + Math.max(...at)))
        assert.ok(insiders(compiled, NOW + Math.min(...at)).every((id) => later.has(id)))
      },
    ),
  )
})

test('the ramp is a step function that begins with the percentage', () => {
  const ramp = [
    { at: 1000, percentage: 0.1 },
    { at: 2000, percentage: 0.5 },
    { at: 3000, percentage: 0.2 },
  ]
  const compiled = wave({ strategy: 'PERCENTAGE', percentage: 0.05, ramp })
  const expected = [
    [0, 0.05],
    [999, 0.05],
    [1000, 0.1],
    [1999, 0.1],
    [2000, 0.5],
    [2999, 0.5],
    [3000, 0.2],
    [Number.MAX_SAFE_INTEGER, 0.2],
  ] as const
  for (const [now, percentage] of expected) assert.equal(effectivePercentage(compiled, now), percentage)
})

test('a ramp without a percentage begins with nobody', () => {
  const compiled = wave({ strategy: 'PERCENTAGE', ramp: [{ at: NOW, percentage: 1 }] })
  assert.equal(evaluateWave(compiled, 'maria', NOW - 1), 'OUT_OF_WAVE')
  assert.equal(evaluateWave(compiled, 'maria', NOW), 'IN_WAVE')
})

test('the effective percentage is that of the last step begun, in whatever order steps are stored', () => {
  const steps = fc.uniqueArray(fc.record({ at: fc.nat(200), percentage: share }), {
    selector: (step) => step.at,
    maxLength: 40,
  })
  fc.assert(
    fc.property(steps, share, fc.integer({ min: -1, max: 201 }), (ramp, percentage, now) => {
      const begun = ramp.filter((step) => step.at <= now)
      const last = begun.reduce((best, step) => (step.at > best.at ? step : best), { at: -1, percentage })
      const compiled = wave({ strategy: 'PERCENTAGE', percentage, ramp })
      assert.equal(effectivePercentage(compiled, now), last.percentage)
    }),
  )
})

test('time bounds hold for every strategy, both ends inside', () => {
  const window = { startTime: 1000, endTime: 2000 }
  const configs: WaveConfig[] = [
    { strategy: 'PERCENTAGE', percentage: 1, ...window },
    { strategy: 'TIME_WINDOW', ...window },
    { strategy: 'EXPLICIT_LIST', customerIds: ['maria'], ...window },
  ]
  for (const config of configs) {
    const at = (now: number) => evaluateWave(wave(config), 'maria', now)
    assert.equal(at(999), 'OUTSIDE_WINDOW', config.strategy)
    assert.equal(at(1000), 'IN_WAVE', config.strategy)
    assert.equal(at(2000), 'IN_WAVE', config.strategy)
    assert.equal(at(2001), 'OUTSIDE_WINDOW', config.strategy)
  }
})

test('a window may be open at one end', () => {
  const from = { startTime: 1000 }
  assert.deepEqual(
    [insideWindow(from, 999), insideWindow(from, 1000), insideWindow(from, 8.64e15)],
    [false, true, true],
  )
  const until = { endTime: 1000 }
  assert.deepEqual(
    [insideWindow(until, 0), insideWindow(until, 1000), insideWindow(until, 1001)],
    [true, true, false],
  )
  assert.ok(insideWindow({}, NOW))
})

test('the window is told before the strategy', () => {
  const closed = wave({ strategy: 'PERCENTAGE', percentage: 0, startTime: NOW })
  assert.equal(evaluateWave(closed, 'maria', NOW - 1), 'OUTSIDE_WINDOW')
  assert.equal(evaluateWave(closed, 'maria', NOW), 'OUT_OF_WAVE')
})

test('an explicit list admits exactly its customers', () => {
  const compiled = wave({
    strategy: 'EXPLICIT_LIST',
    customerIds: ['__proto__', 'Maria', '550E8400-E29B-4D4E-A164-426655440000'],
  })
  const admits = (id: string) => compiled.admission.admits(id, NOW)
  assert.ok(admits('__proto__'))
  assert.ok(admits('Maria'))
  assert.ok(admits('550e8400-e29b-4d4e-a164-426655440000'))
  assert.ok(!admits('maria'))
  assert.ok(!admits('constructor'))
  assert.deepEqual(insiders(wave({ strategy: 'EXPLICIT_LIST', customerIds: [] })), [])
})

test('two lists with the same percentage admit different customers', () => {
  const config: WaveConfig = { strategy: 'PERCENTAGE', percentage: 0.5 }
  assert.notDeepEqual(insiders(wave(config)), insiders(wave(config, 'f'.repeat(32))))
  assert.deepEqual(insiders(wave(config)), insiders(wave(config)))
})

test('a strategy that is not known opens nothing, and a list without a rule is no wave', () => {
  const strange = { strategy: 'LOTTERY', percentage: 1 } as unknown as WaveConfig
  assert.equal(evaluateWave(wave(strange), 'maria', NOW), 'OUT_OF_WAVE')
  assert.equal(wave(strange).step, undefined, 'an explanation names no strategy that it is not')
  assert.throws(
    () => compileWave({ salt: SALT }),
    (error) => isCatracaError(error, 'INTERNAL'),
  )
})

test('a field that another program stored as null counts as absent', () => {
  const nothing = { startTime: null, endTime: null, percentage: null, ramp: null, customerIds: null }
  const stored = (strategy: string) => wave({ strategy, ...nothing } as unknown as WaveConfig)
  assert.equal(evaluateWave(stored('TIME_WINDOW'), 'maria', NOW), 'IN_WAVE')
  assert.equal(evaluateWave(stored('PERCENTAGE'), 'maria', NOW), 'OUT_OF_WAVE')
  assert.equal(evaluateWave(stored('EXPLICIT_LIST'), 'maria', NOW), 'OUT_OF_WAVE')
})

test('compiling leaves the stored rule as it is', () => {
  const ramp = Object.freeze([
    { at: 2, percentage: 0.2 },
    { at: 1, percentage: 0.1 },
  ]) as unknown as WaveConfig['ramp'] & object
  assert.equal(effectivePercentage(wave({ strategy: 'PERCENTAGE', ramp }), 1), 0.1)
  assert.equal(ramp[0]?.at, 2)
})
