import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import type { CheckReason, WaveConfig } from '../../../src/guards/allowlist/types.js'
import { failure } from '../../support/failure.js'
import { maker, openLibrary } from './library-support.js'

const NOW = Date.UTC(2030, 0, 1)
const clock = new ManualClock(NOW)
const catraca = await openLibrary({ clock })
const { allowlists } = catraca
const { fixa, wave } = maker(catraca)

const everybody: WaveConfig = { strategy: 'PERCENTAGE', percentage: 1 }
const nobody: WaveConfig = { strategy: 'PERCENTAGE', percentage: 0 }

async function reasons(customerId: string, ...lists: string[]): Promise<CheckReason[]> {
  return (await allowlists.check(customerId, lists)).results.map(({ reason }) => reason)
}

/** Who of many is in. */
async function admitted(list: string): Promise<string[]> {
  const customerIds = Array.from({ length: 1000 }, (_, i) => `customer-${i}`)
  const { results } = await allowlists.checkMany({ customerIds, allowlists: [list] })
  return results.filter(({ overallAllowed }) => overallAllowed).map(({ customerId }) => customerId)
}

test('a percentage is a number from 0 to 1; whatever else it is changes nothing', async () => {
  await wave('share', { strategy: 'PERCENTAGE', percentage: 0.3 })
  const before = await allowlists.get('share')
  const wrong: unknown[] = [-0.1, 1.1, Number.NaN, '0.3', null, true, Number.POSITIVE_INFINITY, [0.3], {}]
  for (const percentage of wrong) {
    const config = { strategy: 'PERCENTAGE', percentage } as WaveConfig
    const error = await failure(wave('wrong', config), 'INVALID_INPUT')
    assert.deepEqual(error.errors, [{ path: 'config.percentage', message: 'must be a number from 0 to 1' }])
    await failure(allowlists.update('share', { config }), 'INVALID_INPUT')
    const ramp = { strategy: 'PERCENTAGE', ramp: [{ at: NOW, percentage }] } as WaveConfig
    await failure(wave('wrong', ramp), 'INVALID_INPUT')
  }
  assert.deepEqual(await allowlists.get('share'), before)
  await failure(allowlists.get('wrong'), 'ALLOWLIST_NOT_FOUND')
})

test('a pause closes every kind of wave, and resuming brings its rule back', async () => {
  const rules: WaveConfig[] = [
    { strategy: 'PERCENTAGE', percentage: 0.1, ramp: [{ at: NOW - 5, percentage: 1 }], endTime: NOW + 10 },
    { strategy: 'PERCENTAGE', ramp: [{ at: NOW - 5, percentage: 1 }] },
    { strategy: 'TIME_WINDOW', startTime: NOW - 5 },
    { strategy: 'TIME_WINDOW', startTime: 5, endTime: NOW + 10 },
    { strategy: 'EXPLICIT_LIST', customerIds: ['ana'] },
  ]
  for (const [index, rule] of rules.entries()) {
    const id = `paused-${index}`
    await wave(id, rule)
    assert.deepEqual((await allowlists.check('ana', [id])).overallAllowed, true, id)
    const paused = await allowlists.pause(id)
    assert.deepEqual(paused.paused, { at: new Date(NOW).toISOString(), config: rule })
    assert.equal((await allowlists.check('ana', [id])).overallAllowed, false, id)
    assert.deepEqual(await allowlists.pause(id), paused, 'paused once is paused')
    await allowlists.update(id, { name: 'Another name' })
    assert.deepEqual((await allowlists.get(id)).paused, paused.paused)
    await failure(allowlists.resume(id, { ifVersion: 2 }), 'VERSION_MISMATCH')
    const { config, paused: none } = await allowlists.resume(id)
    assert.deepEqual([config, none], [rule, undefined])
    await failure(allowlists.resume(id), 'WAVE_NOT_PAUSED')
  }
  // A rule that is saved takes the place of the pause.
  await allowlists.pause('paused-0')
  assert.equal((await allowlists.update('paused-0', { config: everybody })).paused, undefined)
  await fixa('no-wave')
  await failure(allowlists.pause('no-wave'), 'WRONG_ALLOWLIST_TYPE')
})

test('a pause wins however often others save the rule meanwhile', async () => {
  const { version } = await wave('busy', everybody)
  let stopped = false
  const saving = Array.from({ length: 4 }, async (_, saver) => {
    for (let i = 0; !stopped; i++) {
      const config: WaveConfig = { strategy: 'PERCENTAGE', percentage: 0.5 + ((i + saver) % 50) / 100 }
      await allowlists.update('busy', { config })
    }
  })
  const paused = await allowlists.pause('busy').finally(() => {
    stopped = true
  })
  await Promise.all(saving)
  assert.ok(paused.version > version)
  assert.equal(paused.config?.percentage, 0)
  assert.ok(paused.paused!.config.percentage! >= 0.5)
})

test('a window that ends before it starts is refused, and so is any time that is none', async () => {
  const windows = [
    { startTime: NOW, endTime: NOW - 1 },
    { startTime: NOW, endTime: NOW },
    { startTime: -1 },
    { endTime: 1.5 },
    { startTime: '2030-01-01T00:00:00Z' as never },
    { endTime: Number.NaN },
    {},
  ]
  for (const window of windows)
    await failure(wave('wrong', { strategy: 'TIME_WINDOW', ...window }), 'INVALID_INPUT')
  await failure(wave('wrong', { ...everybody, startTime: 2, endTime: 1 }), 'INVALID_INPUT')
})

test('a window holds for every strategy, both its ends inside', async () => {
  const window = { startTime: NOW + 1000, endTime: NOW + 2000 }
  const waves: Record<string, WaveConfig> = {
    'w-share': { ...everybody, ...window },
    'w-time': { strategy: 'TIME_WINDOW', ...window },
    'w-names': { strategy: 'EXPLICIT_LIST', customerIds: ['ana'], ...window },
  }
  for (const [id, config] of Object.entries(waves)) await wave(id, config)
  for (const [moment, reason] of [
    [999, 'OUTSIDE_WINDOW'],
    [1000, 'IN_WAVE'],
    [2000, 'IN_WAVE'],
    [2001, 'OUTSIDE_WINDOW'],
  ] as const) {
    clock.set(NOW + moment)
    assert.deepEqual(await reasons('ana', ...Object.keys(waves)), [reason, reason, reason], `at ${moment}`)
  }
  clock.set(NOW + 1500)
  assert.deepEqual(await reasons('bia', 'w-names'), ['OUT_OF_WAVE'])
})

test('a wave that grows keeps everyone who is in, and two waves choose apart', async () => {
  await wave('growing', { strategy: 'PERCENTAGE', percentage: 0.2 })
  await wave('other', { strategy: 'PERCENTAGE', percentage: 0.2 })
  const early = await admitted('growing')
  assert.ok(early.length > 120 && early.length < 280, `${early.length} of 1000`)
  assert.notDeepEqual(await admitted('other'), early)
  const ramp = [
    { at: NOW + 10_000, percentage: 0.5 },
    { at: NOW + 20_000, percentage: 1 },
  ]
  const updated = await allowlists.update('growing', {
    config: { strategy: 'PERCENTAGE', percentage: 0.2, ramp },
  })
  assert.equal(updated.version, 2)
  clock.set(NOW + 9_999)
  assert.deepEqual(await admitted('growing'), early)
  clock.set(NOW + 10_000)
  const half = await admitted('growing')
  assert.ok(half.length > 400 && half.length < 600, `${half.length} of 1000`)
  assert.deepEqual(
    early.filter((each) => !half.includes(each)),
    [],
  )
  clock.set(NOW + 20_000)
  assert.equal((await admitted('growing')).length, 1000)
})

test('who is in a wave must be in its base, and in none that it excludes', async () => {
  await fixa('clients', 'ana', 'bia', 'caio')
  await fixa('blocked', 'bia')
  await allowlists.add('clients', 'davi', { expiresAt: new Date(clock.now() + 1000).toISOString() })
  await wave('only-ana', { strategy: 'EXPLICIT_LIST', customerIds: ['ana', 'eva'], base: 'clients' })
  assert.deepEqual(await reasons('ana', 'only-ana'), ['IN_WAVE'])
  assert.deepEqual(await reasons('eva', 'only-ana'), ['OUT_OF_WAVE'], 'named, but not in the base')
  assert.deepEqual(await reasons('caio', 'only-ana'), ['OUT_OF_WAVE'], 'in the base, but not named')

  await wave('most', { ...everybody, base: 'clients', exclude: ['only-ana', 'blocked'] })
  assert.deepEqual(await reasons('ana', 'most'), ['EXCLUDED'])
  assert.deepEqual(await reasons('bia', 'most'), ['EXCLUDED'])
  assert.deepEqual(await reasons('caio', 'most'), ['IN_WAVE'])
  assert.deepEqual(await reasons('eva', 'most'), ['OUT_OF_WAVE'])
  assert.deepEqual(await reasons('davi', 'most'), ['IN_WAVE'])
  clock.advance(1000)
  assert.deepEqual(await reasons('davi', 'most', 'clients'), ['OUT_OF_WAVE', 'MEMBER_EXPIRED'])
  await allowlists.remove('blocked', 'bia')
  assert.deepEqual(await reasons('bia', 'most'), ['IN_WAVE'])
})

test('chains of bases and exclusions, each with its own window', async () => {
  const start = clock.now() + 1000
  await fixa('root', 'ana', 'bia')
  await wave('middle', { ...everybody, base: 'root', startTime: start, endTime: start + 1000 })
  await wave('top', { ...everybody, base: 'middle' })
  await wave('rest', { ...everybody, base: 'root', exclude: ['top'] })
  const states = (): Promise<CheckReason[]> => reasons('ana', 'top', 'rest')
  assert.deepEqual(await states(), ['OUT_OF_WAVE', 'IN_WAVE'], 'a base that is not open yet admits nobody')
  clock.set(start)
  assert.deepEqual(await states(), ['IN_WAVE', 'EXCLUDED'])
  assert.deepEqual(await reasons('eva', 'top', 'rest'), ['OUT_OF_WAVE', 'OUT_OF_WAVE'])
  clock.set(start + 1001)
  assert.deepEqual(await states(), ['OUT_OF_WAVE', 'IN_WAVE'])
  await allowlists.update('rest', { config: { ...everybody, exclude: ['root'], endTime: start } })
  assert.deepEqual(await reasons('ana', 'rest'), ['OUTSIDE_WINDOW'], 'the own window is looked at first')
})

test('a wave never rests on itself, however far around', async () => {
  await wave('one', everybody)
  await wave('two', { ...everybody, base: 'one' })
  await wave('three', { ...nobody, exclude: ['two'] })
  const error = await failure(wave('self', { ...everybody, base: 'self' }), 'INVALID_INPUT')
  assert.deepEqual(error.errors, [{ path: 'config.base', message: 'makes self rest on itself' }])
  await failure(wave('self', { ...everybody, exclude: ['self'] }), 'INVALID_INPUT')
  const before = await allowlists.get('one')
  for (const config of [
    { ...everybody, base: 'one' },
    { ...everybody, exclude: ['one'] },
    { ...everybody, base: 'two' },
    { ...everybody, base: 'three' },
    { ...everybody, exclude: ['three'] },
  ])
    await failure(allowlists.update('one', { config }), 'INVALID_INPUT')
  assert.deepEqual(await allowlists.get('one'), before)
  const uuid = 'AAAAAAAA-0000-4000-8000-00000000000A'
  await failure(wave(uuid, { ...everybody, base: uuid.toLowerCase() }), 'INVALID_INPUT')
  await failure(wave('lost', { ...everybody, base: 'no-such-list' }), 'INVALID_INPUT')
  await failure(wave('lost', { ...everybody, exclude: ['one', 'no-such-list'] }), 'INVALID_INPUT')
})

test('two updates at once that close a circle leave checks that end, and let nobody in', async () => {
  await wave('left', everybody)
  await wave('right', everybody)
  await Promise.allSettled([
    allowlists.update('left', { config: { ...everybody, base: 'right' } }),
    allowlists.update('right', { config: { ...everybody, base: 'left' } }),
  ])
  const bases = await Promise.all(
    ['left', 'right'].map(async (id) => (await allowlists.get(id)).config?.base),
  )
  const isCircle = bases.every((base) => base !== undefined)
  assert.equal((await allowlists.check('ana', ['left', 'right'])).overallAllowed, !isCircle)
})

test('a chain holds at most eight lists behind a wave', async () => {
  await fixa('chain-0', 'ana')
  for (let i = 1; i <= 8; i++) await wave(`chain-${i}`, { ...everybody, base: `chain-${i - 1}` })
  assert.deepEqual(await reasons('ana', 'chain-8'), ['IN_WAVE'])
  assert.deepEqual(await reasons('bia', 'chain-8'), ['OUT_OF_WAVE'])
  const error = await failure(wave('chain-9', { ...everybody, base: 'chain-8' }), 'INVALID_INPUT')
  assert.match(error.message, /chain of more than 8 lists/)
  await failure(wave('chain-9', { ...everybody, exclude: ['chain-8'] }), 'INVALID_INPUT')
  await wave('chain-9', { ...everybody, base: 'chain-7' })
})

test('a list that a wave rests on is not deleted before the wave lets go of it', async () => {
  await fixa('needed', 'ana')
  await wave('user-1', { ...everybody, base: 'needed' })
  await wave('user-2', { ...everybody, exclude: ['needed'] })
  const error = await failure(allowlists.delete('needed'), 'ALLOWLIST_IN_USE')
  assert.match(error.message, /user-1, user-2/)
  assert.deepEqual(await reasons('ana', 'needed', 'user-1', 'user-2'), ['MEMBER', 'IN_WAVE', 'EXCLUDED'])
  await allowlists.update('user-1', { config: everybody })
  await failure(allowlists.delete('needed'), 'ALLOWLIST_IN_USE')
  await allowlists.delete('user-2')
  await allowlists.delete('needed')
  assert.deepEqual(await reasons('ana', 'needed', 'user-1'), ['ALLOWLIST_NOT_FOUND', 'IN_WAVE'])
})
