import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { open } from './support.js'

describe('the context of work', () => {
  it('has all its parts also where it is copied, and a token that no other has', async (t) => {
    const { idempotency } = open(t)
    const tokens = new Set<string>()
    // More than are made at a time.
    for (let i = 0; i < 600; i++) {
      const begun = await idempotency.run({ operation: 'PRODUCE', key: `${i}` }, (context) => {
        const { signal, attempt, token } = { ...context }
        assert.ok(signal instanceof AbortSignal && signal === context.signal && !signal.aborted)
        assert.match(token!, /^[A-Za-z0-9_-]{32}$/)
        tokens.add(token!)
        return attempt
      })
      assert.ok(begun.outcome === 'executed' && begun.value === 1)
    }
    assert.equal(tokens.size, 600)
  })
})
