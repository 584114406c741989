import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatracaError } from '../../../src/core/errors.js'
import type { WaveConfig } from '../../../src/guards/allowlist/types.js'
import { COMMON_FIELDS } from '../../../src/guards/allowlist/wave/common-fields.js'
import { parseWaveConfig } from '../../../src/guards/allowlist/wave/config.js'
import { FIELDS, STRATEGIES, STRATEGY_STEPS } from '../../../src/guards/allowlist/wave/strategies.js'

const parse = (value: unknown): WaveConfig => parseWaveConfig('config', value)

function errorsOf(value: unknown): string[] {
  try {
    parse(value)
  } catch (error) {
    assert.ok(error instanceof CatracaError)
    assert.equal(error.code, 'INVALID_INPUT')
    assert.ok(error.errors !== undefined && error.errors.length > 0)
    assert.ok(error.message.startsWith(`${error.errors[0]?.path} ${error.errors[0]?.message}`))
    return error.errors.map(({ path, message }) => `${path} ${message}`)
  }
  return []
}

const pathsOf = (value: unknown): string[] => errorsOf(value).map((line) => line.split(' ')[0]!)

const percentage = (value: unknown) => ({ strategy: 'PERCENTAGE', percentage: value })
const ramp = (...steps: unknown[]) => ({ strategy: 'PERCENTAGE', ramp: steps })
const explicit = (customerIds: unknown) => ({ strategy: 'EXPLICIT_LIST', customerIds })

test('every strategy comes back as it was given', () => {
  const configs: WaveConfig[] = [
    { strategy: 'PERCENTAGE', percentage: 0.3, startTime: 1704067200000, endTime: 1711929600000 },
    { strategy: 'PERCENTAGE', percentage: 0, ramp: [], base: 'vip', exclude: ['fraud', 'staff'] },
    {
      strategy: 'PERCENTAGE',
      ramp: [
        { at: 0, percentage: 0.1 },
        { at: 8.64e15, percentage: 1 },
      ],
    },
    { strategy: 'TIME_WINDOW', startTime: 0 },
    { strategy: 'TIME_WINDOW', endTime: 1 },
    { strategy: 'EXPLICIT_LIST', customerIds: [] },
    { strategy: 'EXPLICIT_LIST', customerIds: ['a:b', '__proto__', 'constructor'], startTime: 1, endTime: 2 },
  ]
  for (const config of configs) assert.deepEqual(parse(JSON.parse(JSON.stringify(config))), config)
})

test('what is not an object is refused', () => {
  for (const value of [undefined, null, 'PERCENTAGE', 1, true, [], () => {}])
    assert.deepEqual(errorsOf(value), ['config must be an object'])
})

test('the strategy is required and one of three', () => {
  for (const strategy of [undefined, null, 'percentage', 'toString', ['PERCENTAGE'], 1])
    assert.deepEqual(errorsOf({ strategy, percentage: 0.5 }), [
      'config.strategy must be PERCENTAGE, TIME_WINDOW or EXPLICIT_LIST',
    ])
})

test('a percentage is a number from 0 to 1', () => {
  for (const value of [
    -0.1,
    1.1,
    Number.NaN,
    Infinity,
    -Infinity,
    '0.3',
    null,
    true,
    [0.3],
    30,
    1 + 2 ** -52,
  ])
    assert.deepEqual(errorsOf(percentage(value)), ['config.percentage must be a number from 0 to 1'])
  for (const value of [0, 1, 0.3, Number.MIN_VALUE]) assert.equal(parse(percentage(value)).percentage, value)
})

test('times are whole epoch milliseconds', () => {
  for (const value of [-1, 0.5, '1704067200000', Number.NaN, 8.64e15 + 1, null, new Date(0)]) {
    assert.deepEqual(pathsOf({ strategy: 'TIME_WINDOW', startTime: value }), ['config.startTime'])
    assert.deepEqual(pathsOf({ strategy: 'TIME_WINDOW', endTime: value }), ['config.endTime'])
    assert.deepEqual(pathsOf(ramp({ at: value, percentage: 1 })), ['config.ramp[0].at'])
  }
})

test('the end must be after the start', () => {
  const times = (startTime: number, endTime: number) => ({ strategy: 'TIME_WINDOW', startTime, endTime })
  assert.deepEqual(errorsOf(times(2, 1)), ['config.endTime must be after startTime'])
  assert.deepEqual(errorsOf(times(2, 2)), ['config.endTime must be after startTime'])
  assert.deepEqual(errorsOf(times(2, 3)), [])
})

test('each strategy asks for what it works with', () => {
  const needsShare = ['config.percentage is required when there is no ramp']
  assert.deepEqual(errorsOf({ strategy: 'PERCENTAGE' }), needsShare)
  assert.deepEqual(errorsOf(ramp()), needsShare)
  assert.deepEqual(errorsOf({ strategy: 'TIME_WINDOW' }), ['config.startTime or endTime is required'])
  assert.deepEqual(errorsOf({ strategy: 'EXPLICIT_LIST' }), ['config.customerIds is required'])
})

test('and refuses what belongs to another', () => {
  const window = { strategy: 'TIME_WINDOW', startTime: 1 }
  assert.deepEqual(errorsOf({ ...window, percentage: 1, ramp: [], customerIds: [] }), [
    'config.percentage belongs to the strategy PERCENTAGE only',
    'config.ramp belongs to the strategy PERCENTAGE only',
    'config.customerIds belongs to the strategy EXPLICIT_LIST only',
  ])
  assert.deepEqual(pathsOf({ ...explicit([]), percentage: 0.5 }), ['config.percentage'])
  assert.deepEqual(pathsOf({ ...percentage(1), customerIds: ['a'] }), ['config.customerIds'])
})

test('unknown fields are refused, __proto__ and constructor like any other', () => {
  const config = JSON.parse(
    '{"strategy":"PERCENTAGE","percentage":1,"__proto__":{"base":"x"},"constructor":1,"a":2}',
  )
  assert.deepEqual(errorsOf(config), [
    'config.__proto__ is not a known field',
    'config.constructor is not a known field',
    'config.a is not a known field',
  ])
  const step = JSON.parse('{"at":1,"percentage":1,"__proto__":{}}')
  assert.deepEqual(errorsOf(ramp(step)), ['config.ramp[0].__proto__ is not a known field'])
})

test('inherited fields do not count, and an absent field may be undefined', () => {
  const inherited = Object.create({ strategy: 'PERCENTAGE', percentage: 1 })
  assert.deepEqual(pathsOf(inherited), ['config.strategy'])
  const parsed = parse({ ...percentage(0.5), ramp: undefined, base: undefined })
  assert.deepEqual(Object.keys(parsed), ['strategy', 'percentage'])
})

test('the copy shares nothing with what was given', () => {
  const given = { strategy: 'PERCENTAGE', ramp: [{ at: 1, percentage: 0.1 }], exclude: ['a'] }
  const parsed = parse(given)
  given.ramp[0]!.percentage = 1
  given.exclude.push('b')
  assert.deepEqual(parsed, { strategy: 'PERCENTAGE', ramp: [{ at: 1, percentage: 0.1 }], exclude: ['a'] })
})

test('ramp steps are whole, ascend, and are at most 1,000', () => {
  const at = (ms: number) => ({ at: ms, percentage: 0.5 })
  assert.deepEqual(errorsOf({ strategy: 'PERCENTAGE', ramp: { 0: at(1) } }), ['config.ramp must be an array'])
  assert.deepEqual(errorsOf(ramp(at(1), at(1))), ['config.ramp[1].at must be after the step before it'])
  assert.deepEqual(pathsOf(ramp(at(5), at(4), at(6))), ['config.ramp[1].at'])
  assert.deepEqual(pathsOf(ramp(at(1), null, {}, { at: 2, percentage: 2 })), [
    'config.ramp[1]',
    'config.ramp[2].at',
    'config.ramp[2].percentage',
    'config.ramp[3].percentage',
  ])
  const many = Array.from({ length: 1001 }, (_, i) => at(i))
  assert.deepEqual(errorsOf(ramp(...many)), ['config.ramp must have at most 1000 entries'])
  assert.equal(parse(ramp(...many.slice(1))).ramp?.length, 1000)
})

test('customer ids become canonical, once each, in their order', () => {
  const upper = '550E8400-E29B-4D4E-A164-426655440000'
  const ids = ['B', upper, 'b', upper.toLowerCase(), 'B']
  assert.deepEqual(parse(explicit(ids)).customerIds, ['B', upper.toLowerCase(), 'b'])
})

test('bad customer ids are named one by one', () => {
  const bad = ['', 'x'.repeat(257), 'a#b', 'a/b', 'a b', 'a\u0000', '😀', '.', '..', 7, null]
  assert.deepEqual(
    pathsOf(explicit(['fine', ...bad])),
    bad.map((_, i) => `config.customerIds[${i + 1}]`),
  )
  // biome-ignore lint/suspicious/noSparseArray: a hole must not pass as absent
  assert.deepEqual(pathsOf(explicit(['a', , 'b'])), ['config.customerIds[1]'])
  assert.deepEqual(errorsOf(explicit('a,b')), ['config.customerIds must be an array'])
})

test('at most 5,000 customer ids', () => {
  const ids = Array.from({ length: 5001 }, (_, i) => `c${i}`)
  assert.deepEqual(errorsOf(explicit(ids)), ['config.customerIds must have at most 5000 entries'])
  assert.equal(parse(explicit(ids.slice(1))).customerIds?.length, 5000)
})

test('base and exclude are list ids', () => {
  const bad = ['', 'a:b', 'a/b', '..', 5]
  for (const base of bad) assert.deepEqual(pathsOf({ ...percentage(1), base }), ['config.base'])
  assert.deepEqual(
    pathsOf({ ...percentage(1), exclude: bad }),
    bad.map((_, i) => `config.exclude[${i}]`),
  )
  const upper = '550E8400-E29B-4D4E-A164-426655440000'
  const parsed = parse({ ...percentage(1), base: upper, exclude: ['__proto__'] })
  assert.deepEqual([parsed.base, parsed.exclude], [upper.toLowerCase(), ['__proto__']])
})

test('exclude repeats nothing, holds at most 100 lists, and not the base', () => {
  const upper = '550E8400-E29B-4D4E-A164-426655440000'
  const excluding = (...exclude: string[]) => ({ ...percentage(1), exclude })
  assert.deepEqual(errorsOf(excluding('a', 'b', 'a')), ['config.exclude[2] repeats an earlier entry'])
  assert.deepEqual(pathsOf(excluding(upper, upper.toLowerCase())), ['config.exclude[1]'])
  assert.deepEqual(errorsOf({ ...excluding('a', upper), base: upper.toLowerCase() }), [
    'config.base must not be in exclude as well',
  ])
  const many = Array.from({ length: 101 }, (_, i) => `list-${i}`)
  assert.deepEqual(errorsOf(excluding(...many)), ['config.exclude must have at most 100 entries'])
  assert.equal(parse(excluding(...many.slice(1))).exclude?.length, 100)
})

test('everything that is wrong is told at once', () => {
  const config = {
    strategy: 'PERCENTAGE',
    percentage: '0.3',
    customerIds: ['a b'],
    startTime: 2,
    endTime: 1,
    ramp: [{ at: 1.5, percentage: 0.1 }],
    base: 'a:b',
    exclude: ['x', 'x'],
    colour: 'red',
  }
  assert.deepEqual(pathsOf(config).sort(), [
    'config.base',
    'config.colour',
    'config.customerIds',
    'config.customerIds[0]',
    'config.endTime',
    'config.exclude[1]',
    'config.percentage',
    'config.ramp[0].at',
  ])
  assert.throws(() => parse(config), /\(and 7 more\)$/)
})

test('the path is that of the caller', () => {
  assert.throws(
    () => parseWaveConfig('body.config', percentage(2)),
    (error) => error instanceof CatracaError && error.errors?.[0]?.path === 'body.config.percentage',
  )
})

test('no two strategies share a field, an option or a step of explain', () => {
  const fields = [...Object.values(STRATEGIES).map((strategy) => strategy.fields), COMMON_FIELDS]
  const names = fields.flatMap((own) => Object.keys(own))
  const flags = Object.values(FIELDS).map(({ option }) => option[0].split(' ')[0])
  for (const unique of [names, flags, STRATEGY_STEPS]) assert.equal(new Set(unique).size, unique.length)
  assert.equal(flags.length, names.length)
})
