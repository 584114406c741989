import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LIMIT_VECTORS, VECTOR_START } from '../../../src/conformance/vectors/rate-limit.js'
import { decide, type SubjectState } from '../../../src/guards/rate-limit/decide.js'
import { ALGORITHMS, compileRule } from '../../../src/guards/rate-limit/rule.js'

describe('vectors of limits', () => {
  for (const { name, limit, steps } of LIMIT_VECTORS) {
    it(name, () => {
      let rule = compileRule('limit', limit)
      let states: SubjectState = []
      for (const step of steps) {
        if (!Array.isArray(step)) {
          rule = compileRule('limit', step as typeof limit)
          continue
        }
        const [atMs, cost, allowed, remaining, resetMs, retryAfterMs] = step as [
          number,
          number,
          boolean,
          number,
          number,
          number,
        ]
        const limits = [{ name: 'x', rule, cost, shadow: false }]
        const decision = decide([states], [{ limits }], VECTOR_START + atMs)
        const view = decision.views[0]![0]!
        const told = [decision.allowed, view.remaining, view.resetMs, view.retryAfterMs]
        assert.deepEqual(told, [allowed, remaining, resetMs, retryAfterMs], `at ${atMs}, cost ${cost}`)
        states = decision.states[0] ?? states
      }
    })
  }

  it('cover every algorithm', () => {
    assert.deepEqual(new Set(LIMIT_VECTORS.map(({ limit }) => limit.algorithm)), new Set(ALGORITHMS))
  })
})
