import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LIMIT_VECTORS, VECTOR_START } from '../../src/conformance/vectors/rate-limit.js'
import { ALGORITHM, type LimitState } from '../../src/rate-limit/algorithms/index.js'
import { ALGORITHMS, compileRule } from '../../src/rate-limit/rule.js'

describe('vectors of limits', () => {
  for (const { name, limit, steps } of LIMIT_VECTORS) {
    it(name, () => {
      let rule = compileRule('limit', limit)
      let state: LimitState | undefined
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
        const verdict = ALGORITHM[rule.algorithm].take(state, rule, cost, VECTOR_START + atMs)
        const told = [verdict.retryAfterMs === 0, verdict.remaining, verdict.resetMs, verdict.retryAfterMs]
        assert.deepEqual(told, [allowed, remaining, resetMs, retryAfterMs], `at ${atMs}, cost ${cost}`)
        state = verdict.state
      }
    })
  }

  it('cover every algorithm', () => {
    assert.deepEqual(new Set(LIMIT_VECTORS.map(({ limit }) => limit.algorithm)), new Set(ALGORITHMS))
  })
})
