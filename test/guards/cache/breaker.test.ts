import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Breaker } from '../../../src/guards/cache/breaker.js'

const PAUSE_MS = 1000

function opened(now: number): Breaker {
  const breaker = new Breaker({ failures: 2, pauseMs: PAUSE_MS })
  breaker.fail(now)
  breaker.fail(now)
  return breaker
}

describe('a circuit breaker of caches', () => {
  it('admits nobody for its pause, then one call, whose outcome decides', () => {
    const breaker = opened(5000)
    assert.deepEqual([breaker.isOpen(5000), breaker.admits(5999)], [true, false])
    assert.deepEqual([breaker.admits(6000), breaker.admits(6000), breaker.isOpen(6000)], [true, false, true])
    breaker.succeed()
    assert.deepEqual([breaker.isOpen(6000), breaker.admits(6000)], [false, true])
  })

  it('admits during its pause what must be sent, and takes that for the trial', () => {
    const breaker = opened(5000)
    breaker.force()
    assert.deepEqual([breaker.isOpen(6000), breaker.admits(6000)], [true, false])
    breaker.fail(6500)
    assert.deepEqual([breaker.isOpen(7499), breaker.isOpen(7500)], [true, false])
    breaker.force()
    breaker.succeed()
    breaker.force()
    assert.deepEqual([breaker.isOpen(7500), breaker.admits(7500)], [false, true])
  })

  it('is not kept open by a clock that is set right again', () => {
    const HOUR_MS = 3_600_000
    const breaker = opened(5000 + HOUR_MS)
    assert.equal(breaker.isOpen(5000), false)
    assert.equal(breaker.admits(5000), true)
  })
})
