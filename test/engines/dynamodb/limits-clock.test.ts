import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucket, cost, of } from '../../../src/conformance/rate-limit/support.js'
import {
  type Bounds,
  narrow,
  offsetOf,
  ServerClock,
} from '../../../src/engines/dynamodb/client/server-clock.js'
import { LimitsServer } from '../../support/dynamodb-limits.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state / 0x80000000) * below
  }
}

describe('the clock of DynamoDB', () => {
  it('is bounded by every answer, whatever clocks, drift and delays are', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = numbers(seed)
      const drift = (random(2) - 1) * 0.0001
      const ahead = random(200_000) - 100_000
      const longestMs = 5 + random(400)
      let bounds: Bounds | undefined
      let local = 1_900_000_000_000 + random(1000)
      const start = local
      const offset = () => ahead + (local - start) * drift
      for (let i = 0; i < 300; i++) {
        local += random(3000)
        const sentAt = local
        local += random(longestMs)
        const date = Math.floor((local + offset()) / 1000) * 1000
        local += random(longestMs)
        bounds = narrow(bounds, { date, sentAt, receivedAt: local })
        // Both moved on since the date was written.
        const slackMs = 2 * longestMs * 0.0002
        assert.ok(bounds.lowMs <= offset() + slackMs && offset() <= bounds.highMs + slackMs, `seed ${seed}`)
      }
      const error = Math.abs(offsetOf(bounds) - offset())
      assert.ok(error <= longestMs + 100, `seed ${seed}: off by ${error} ms of ${longestMs}`)
    }
  })

  it('leaves a clock alone that may be right', () => {
    const bounds = narrow(undefined, { date: 5000, sentAt: 5900, receivedAt: 5950 })
    assert.deepEqual([bounds.lowMs, bounds.highMs, offsetOf(bounds)], [-950, 100, 0])
    assert.equal(offsetOf(undefined), 0)
  })

  it('is found again when a clock was set', () => {
    let bounds = narrow(undefined, { date: 100_000, sentAt: 100_500, receivedAt: 100_510 })
    bounds = narrow(bounds, { date: 101_000, sentAt: 41_500, receivedAt: 41_510 })
    assert.ok(Math.abs(offsetOf(bounds) - 60_000) <= 1000)
    // Set back while an answer was on its way: it says nothing.
    assert.deepEqual(narrow(bounds, { date: 200_000, sentAt: 50_000, receivedAt: 20_000 }), bounds)
  })

  it('passes over what is no date', () => {
    const clock = new ServerClock(() => 0)
    for (const header of [undefined, '', 'soon']) clock.note(header, 0, 0)
    assert.equal(clock.offsetMs(), 0)
    clock.note('Thu, 01 Jan 1970 00:01:00 GMT', 0, 0)
    assert.equal(clock.offsetMs(), 60_500)
  })
})

for (const emulator of EMULATORS) {
  describe(`a process whose clock is a minute off, on ${emulator}`, async () => {
    const limits = new LimitsServer(await startDynamo(emulator))
    const table = await limits.table()
    for (const offMs of [60_000, -60_000]) {
      it(`decides by the time of DynamoDB: ${offMs} ms`, async () => {
        const now = () => Date.now() + offMs
        const right = limits.open(table, { clock: 'corrected' })
        const wrong = limits.open(table, { clock: 'corrected', now })
        // So begins a process, and has heard the time by then.
        for (const { counters } of [right, wrong]) await counters.take([], 0)
        const asked = [of(`off${offMs}`, cost('rpm', bucket(60), 60))]
        const first = await right.counters.take(asked, Date.now())
        const second = await wrong.counters.take(asked, now())
        const errorMs = Math.abs(second.at - Date.now())
        assert.ok(errorMs < 1100, `off by ${errorMs} ms`)
        assert.deepEqual([first.allowed, second.allowed], [true, false])
        const { retryAfterMs } = second.views[0]![0]!
        assert.ok(Math.abs(retryAfterMs - 60_000) < 1100, `${retryAfterMs} ms`)
        await Promise.all([right.close(), wrong.close()])
      })
    }
  })
}
