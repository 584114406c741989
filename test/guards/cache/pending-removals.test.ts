import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PendingRemovals } from '../../../src/guards/cache/pending-removals.js'

const keysOf = (pending: PendingRemovals): string[] => [...pending.take().keys.keys()]

describe('removals that a cache owes its store', () => {
  it('stay until they arrive', () => {
    const pending = new PendingRemovals()
    pending.addKeys(['a', 'b'])
    const { keys } = pending.take()
    assert.equal(pending.size, 0)
    pending.returnKeys(keys)
    assert.deepEqual(keysOf(pending), ['a', 'b'])
  })

  it('are over when an attempt arrives late, also while the next is on its way', () => {
    const pending = new PendingRemovals()
    pending.addKeys(['a'])
    const first = pending.take().keys
    pending.returnKeys(first)
    const second = pending.take().keys
    pending.forgetKeys(first)
    pending.returnKeys(second)
    assert.equal(pending.size, 0)
  })

  it('stay when the key was removed again after the attempt that arrives late', () => {
    const pending = new PendingRemovals()
    pending.addKeys(['a', 'b'])
    const { keys } = pending.take()
    pending.addKeys(['a'])
    pending.returnKeys(keys)
    pending.forgetKeys(keys)
    assert.deepEqual(keysOf(pending), ['a'])
  })
})
