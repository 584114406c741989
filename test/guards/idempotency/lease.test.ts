import assert from 'node:assert/strict'
import { describe, it, mock, type TestContext } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import type { CatracaError } from '../../../src/core/errors.js'
import { SharedTimer, Waiter } from '../../../src/core/shared-timer.js'
import { Heartbeat } from '../../../src/guards/idempotency/heartbeat.js'
import type { OwnerOutcome } from '../../../src/guards/idempotency/port.js'
import type { RunRequest, WorkContext } from '../../../src/guards/idempotency/types.js'
import { deferred, down, mustNotRun, open, until } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const asked = (changes: Partial<RunRequest> = {}): RunRequest =>
  ({ operation: 'PRODUCE', key: 'k', payload: 1, ...changes }) as RunRequest

/** A heartbeat whose time the test moves. */
function beating(t: TestContext, extend: () => Promise<OwnerOutcome>, maxWorkMs = 1_000_000) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  const monotonicMs = () => now
  const wakes = new SharedTimer(monotonicMs)
  const heartbeat = new Heartbeat({ leaseMs: 30_000, maxWorkMs, extend, monotonicMs, wakes }, 0)
  const pass = async (ms: number, stepMs = 500) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      now += stepMs
      mock.timers.tick(stepMs)
      for (let turns = 0; turns < 5; turns++) await Promise.resolve()
    }
  }
  return { heartbeat, pass }
}

describe('a heartbeat', () => {
  it('extends the lease three times within it, for as long as the work takes', async (t) => {
    let beats = 0
    const { heartbeat, pass } = beating(t, async () => {
      beats++
      return 'done'
    })
    await pass(300_000)
    assert.equal(heartbeat.signal.aborted, false)
    assert.ok(beats >= 29 && beats <= 31, `${beats}`)
    heartbeat.stop()
    await pass(60_000)
    assert.ok(beats <= 31)
  })

  it('aborts when somebody else has the record', async (t) => {
    const { heartbeat, pass } = beating(t, async () => 'lost')
    await pass(11_000)
    assert.equal((heartbeat.signal.reason as CatracaError).code, 'IDEMPOTENCY_CLAIM_LOST')
  })

  it('goes on while the answer is recorded, and has nothing to abort by then', async (t) => {
    let beats = 0
    const { heartbeat, pass } = beating(t, async () => (++beats > 2 ? 'lost' : 'done'))
    heartbeat.workIsDone()
    await pass(60_000)
    assert.deepEqual([beats, heartbeat.signal.aborted], [3, false])
  })

  it('survives failures for as long as the lease lasts, and no longer', async (t) => {
    let isDown = true
    const { heartbeat, pass } = beating(t, async () => (isDown ? down() : 'done'))
    await pass(29_000)
    assert.equal(heartbeat.signal.aborted, false)
    isDown = false
    await pass(29_000)
    isDown = true
    await pass(19_000)
    assert.equal(heartbeat.signal.aborted, false)
    await pass(12_000)
    assert.match((heartbeat.signal.reason as Error).message, /its lease expired/)
  })

  it('counts the lease from before it was asked for, also when the answer takes long', async (t) => {
    const { heartbeat, pass } = beating(t, () => new Promise(() => {}))
    await pass(29_500)
    assert.equal(heartbeat.signal.aborted, false)
    await pass(500)
    assert.equal(heartbeat.signal.aborted, true)
  })

  it('aborts at once in a process that slept past its lease', async (t) => {
    let beats = 0
    const { heartbeat, pass } = beating(t, async () => {
      beats++
      return 'done'
    })
    await pass(40_000, 40_000)
    assert.equal(heartbeat.signal.aborted, true)
    assert.equal(beats, 0)
  })

  it('tells of a loss also who asks for the signal later', async (t) => {
    const { heartbeat, pass } = beating(t, async () => 'lost')
    await pass(11_000)
    const { signal } = heartbeat
    assert.equal(signal.aborted, true)
    assert.equal((signal.reason as CatracaError).code, 'IDEMPOTENCY_CLAIM_LOST')
    assert.equal(heartbeat.signal, signal)
  })

  it('ends after the longest time that work may take', async (t) => {
    const { heartbeat, pass } = beating(t, async () => 'done', 100_000)
    await pass(99_500)
    assert.equal(heartbeat.signal.aborted, false)
    await pass(1000)
    assert.match((heartbeat.signal.reason as Error).message, /longer than 100000 ms/)
  })
})

describe('wakes', () => {
  class Told extends Waiter {
    constructor(private readonly onTold: (now: number) => void) {
      super()
    }
    override onDue(now: number): void {
      this.onTold(now)
    }
  }

  it('come in their order whatever that of asking, with one timer, and not to who called off', (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.after(() => mock.timers.reset())
    let now = 0
    const wakes = new SharedTimer(() => now)
    const told: [name: number, at: number][] = []
    const sleepers = [300, 100, 200, 400, 150].map((due) => {
      const sleeper = new Told((at) => told.push([due, at]))
      wakes.schedule(sleeper, due)
      return sleeper
    })
    wakes.cancel(sleepers[2]!)
    wakes.cancel(sleepers[2]!)
    // Said anew, it counts from then.
    wakes.schedule(sleepers[0]!, 450)
    for (; now < 500; now += 10, mock.timers.tick(10)) {}
    assert.deepEqual(told, [
      [100, 100],
      [150, 150],
      [400, 400],
      [300, 450],
    ])
  })

  it('may ask again while they are told, also for a time before others', (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.after(() => mock.timers.reset())
    let now = 0
    const wakes = new SharedTimer(() => now)
    const told: number[] = []
    const often: Waiter = new Told((at) => {
      told.push(at)
      wakes.schedule(often, at + 50)
    })
    wakes.schedule(new Told((at) => told.push(-at)), 120)
    wakes.schedule(often, 50)
    for (; now < 200; now += 10, mock.timers.tick(10)) {}
    assert.deepEqual(told, [50, 100, -120, 150, 200])
  })
})

describe('a lease that has passed', () => {
  /** Somebody began, and is heard of no more. */
  async function abandoned(t: TestContext) {
    const clock = new ManualClock(NOW)
    const opened = open(t, { clock })
    const begun = await opened.idempotency.begin(asked())
    assert.ok(begun.outcome === 'claimed')
    clock.advance(30_000)
    return { ...opened, clock, token: begun.token }
  }

  it('lets the next one try again, and refuses the late one', async (t) => {
    const { idempotency, token } = await abandoned(t)
    const result = await idempotency.run(asked(), async ({ attempt }) => {
      await assert.rejects(idempotency.complete(asked(), token, 'late'), { code: 'IDEMPOTENCY_CLAIM_LOST' })
      await assert.rejects(idempotency.extend(asked(), token, 1000), { code: 'IDEMPOTENCY_CLAIM_LOST' })
      await assert.rejects(idempotency.fail(asked(), token), { code: 'IDEMPOTENCY_CLAIM_LOST' })
      await assert.rejects(idempotency.release(asked(), token), { code: 'IDEMPOTENCY_CLAIM_LOST' })
      return attempt
    })
    assert.deepEqual(result, { outcome: 'executed', value: 2, attempt: 2 })
    await assert.rejects(idempotency.complete(asked(), token, 'late'), { code: 'IDEMPOTENCY_CLAIM_LOST' })
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { outcome: 'replayed', value: 2 })
  })

  it('is never tried again where that is forbidden, and its owner may still end it', async (t) => {
    const { idempotency, token, clock } = await abandoned(t)
    const cautious = asked({ onLeaseExpired: 'unknown', waitMs: 5000 })
    assert.deepEqual(await idempotency.run(cautious, mustNotRun), { outcome: 'refused', reason: 'unknown' })
    clock.advance(3_600_000)
    assert.deepEqual(await idempotency.run(cautious, mustNotRun), { outcome: 'refused', reason: 'unknown' })
    await idempotency.complete(asked(), token, 'after all')
    assert.deepEqual(await idempotency.run(cautious, mustNotRun), {
      outcome: 'replayed',
      value: 'after all',
    })
  })

  it('is taken over by one of those who wait for it', async (t) => {
    const clock = new ManualClock(NOW)
    const { idempotency, calls } = open(t, { clock })
    await idempotency.begin(asked())
    const waiting = Array.from({ length: 5 }, () => idempotency.run(asked({ waitMs: 10_000 }), () => 'mine'))
    await until(() => (calls.read ?? 0) >= 2)
    clock.advance(30_000)
    const results = await Promise.all(waiting)
    assert.deepEqual(results.map(({ outcome }) => outcome).sort(), [
      'executed',
      ...Array.from({ length: 4 }, () => 'replayed'),
    ])
  })

  it('is kept alive while the answer is recorded, however long that takes', async (t) => {
    const clock = new ManualClock(NOW)
    const { idempotency, before, after, calls } = open(t, { clock, monotonicMs: () => clock.now() })
    const gate = deferred()
    before.complete = () => gate.promise
    let extensions = 0
    after.extend = () => extensions++
    const running = idempotency.run(asked({ leaseMs: 600 }), () => 'done')
    await until(() => calls.complete === 1)
    // Two leases pass, in steps, each of which waits for what it brings about.
    for (let beats = 1; beats <= 6; beats++) {
      clock.advance(200)
      await until(() => extensions === beats)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await idempotency.run(asked(), mustNotRun)).outcome, 'refused')
    gate.resolve()
    assert.equal((await running).outcome, 'executed')
    assert.equal((await idempotency.run(asked(), mustNotRun)).outcome, 'replayed')
  })

  it('of work that goes on is told to it, and its answer is refused', async (t) => {
    const clock = new ManualClock(NOW)
    let monotonic = 0
    const { idempotency, before } = open(t, { clock, monotonicMs: () => monotonic })
    before.extend = down
    const begun = deferred<WorkContext>()
    const gate = deferred()
    const slow = idempotency.run(asked({ leaseMs: 300 }), async (context) => {
      begun.resolve(context)
      await gate.promise
      return 'slow'
    })
    const { signal } = await begun.promise
    clock.advance(300)
    monotonic = 300
    assert.equal((await idempotency.run(asked(), () => 'quick')).outcome, 'executed')
    await until(() => signal.aborted)
    assert.equal((signal.reason as CatracaError).code, 'IDEMPOTENCY_CLAIM_LOST')
    gate.resolve()
    await assert.rejects(slow, { code: 'IDEMPOTENCY_CLAIM_LOST' })
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { outcome: 'replayed', value: 'quick' })
  })
})
