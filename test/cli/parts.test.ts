import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatOfFile } from '../../src/cli/commands/support/file-format.js'
import { list, share, step, time, wholeNumber } from '../../src/cli/commands/support/parse.js'
import { describeWave, waveConfig } from '../../src/cli/commands/support/wave-options.js'
import { duration, visible } from '../../src/cli/output/print.js'
import { Pace } from '../../src/cli/output/progress.js'
import { ManualClock } from '../../src/core/clock.js'

describe('values of options', () => {
  it('shares are numbers or percents from 0 to 1', () => {
    assert.deepEqual(
      ['0', '1', '.5', '0.25', '25%', '100%', '0.5%'].map(share),
      [0, 1, 0.5, 0.25, 0.25, 1, 0.005],
    )
    for (const wrong of ['', '-0.1', '1.1', '101%', 'NaN', '1e-1', '0,5', '5 %'])
      assert.throws(() => share(wrong), wrong)
  })

  it('times say their zone', () => {
    assert.equal(time('2026-12-01T00:00:00Z'), Date.UTC(2026, 11, 1))
    assert.equal(time('2026-12-01T00:00-03:00'), Date.UTC(2026, 11, 1, 3))
    for (const wrong of ['2026-12-01', '2026-12-01T00:00:00', 'now', '2026-13-01T00:00:00Z', '1764547200000'])
      assert.throws(() => time(wrong), wrong)
  })

  it('steps collect', () => {
    const first = step('2026-12-01T00:00:00Z=0.25')
    assert.deepEqual(step('2027-01-01T00:00:00Z=50%', first), [
      { at: Date.UTC(2026, 11, 1), percentage: 0.25 },
      { at: Date.UTC(2027, 0, 1), percentage: 0.5 },
    ])
    for (const wrong of ['0.5', '=0.5', '2026-12-01T00:00:00Z=']) assert.throws(() => step(wrong), wrong)
  })

  it('lists have no holes, numbers no signs', () => {
    assert.deepEqual(list('a, b'), ['a', 'b'])
    for (const wrong of ['', 'a,', ',']) assert.throws(() => list(wrong), wrong)
    for (const wrong of ['', '-1', '1.5', '0x1']) assert.throws(() => wholeNumber(wrong), wrong)
  })
})

describe('the rule of a wave', () => {
  it('follows from the options', () => {
    assert.equal(waveConfig({}), undefined)
    assert.deepEqual(waveConfig({ percentage: 0.1, base: 'b' }), {
      strategy: 'PERCENTAGE',
      percentage: 0.1,
      base: 'b',
    })
    assert.deepEqual(waveConfig({ customers: ['a'], start: 5 }), {
      strategy: 'EXPLICIT_LIST',
      customerIds: ['a'],
      startTime: 5,
    })
    assert.deepEqual(waveConfig({ end: 5 }), { strategy: 'TIME_WINDOW', endTime: 5 })
    assert.throws(() => waveConfig({ exclude: ['x'] }), { code: 'INVALID_INPUT' })
  })

  it('can be read by a person', () => {
    const ramp = [{ at: 0, percentage: 0.07 }]
    const text = describeWave({
      strategy: 'PERCENTAGE',
      percentage: 0.1,
      ramp,
      startTime: 0,
      exclude: ['a', 'b'],
    })
    const epoch = '1970-01-01T00:00:00.000Z'
    assert.equal(text, `PERCENTAGE; 10 %; 7 % from ${epoch}; opens ${epoch}; without a, b`)
  })
})

describe('progress', () => {
  const at = (rowsRead: number, bytesRead: number, rowsAcknowledged = 0) => ({
    rowsRead,
    bytesRead,
    rowsAcknowledged,
  })

  it('counts a row half when it is read and whole when it is stored', () => {
    const clock = new ManualClock(0)
    const pace = new Pace(clock)
    assert.deepEqual(pace.of(at(0, 0), 1000), { doneBytes: 0, rowsPerSecond: 0, leftMs: undefined })
    clock.advance(1000)
    assert.deepEqual(pace.of(at(20, 200), 1000), { doneBytes: 100, rowsPerSecond: 10, leftMs: 9000 })
    clock.advance(1000)
    assert.deepEqual(pace.of(at(20, 200, 20), 1000), { doneBytes: 200, rowsPerSecond: 10, leftMs: 8000 })
  })

  it('forgets how fast it was a minute ago', () => {
    const clock = new ManualClock(0)
    const pace = new Pace(clock)
    pace.of(at(0, 0), 1000)
    clock.advance(1000)
    pace.of(at(100, 100, 100), 1000)
    for (let i = 1; i <= 90; i++) {
      clock.advance(1000)
      pace.of(at(100 + i, 100 + i, 100 + i), 1000)
    }
    assert.deepEqual(pace.of(at(190, 190, 190), 1000), { doneBytes: 190, rowsPerSecond: 1, leftMs: 810_000 })
  })

  it('does not guess the time that is left of a stream', () => {
    const clock = new ManualClock(0)
    const pace = new Pace(clock)
    pace.of(at(0, 0), undefined)
    clock.advance(500)
    assert.equal(pace.of(at(50, 500), undefined).leftMs, undefined)
  })

  it('writes durations as a clock does', () => {
    assert.deepEqual([0, 61_000, 3_599_000, 3_725_000].map(duration), ['0:00', '1:01', '59:59', '1:02:05'])
  })
})

describe('output', () => {
  it('keeps control characters from the terminal', () => {
    assert.equal(visible('a\u001b[31mb\u0007\u009b'), 'a\\u001b[31mb\\u0007\\u009b')
  })

  it('knows formats by the ending, also below .gz', () => {
    const files = ['a.csv', 'A.CSV.GZ', 'a.ndjson', 'a.jsonl.gz', 'a.txt', 'a', 'a.gz', 'a.constructor']
    assert.deepEqual(files.map(formatOfFile), [
      'csv',
      'csv',
      'ndjson',
      'ndjson',
      'text',
      undefined,
      undefined,
      undefined,
    ])
  })
})
