import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clockResult, latencyResult, runChecks } from '../../src/core/diagnosis.js'

describe('checks', () => {
  it('that hang or throw are findings', async () => {
    const base = { expects: '', remedy: 'mend it' }
    const findings = await runChecks(
      [
        { ...base, id: 'hangs', run: () => new Promise<never>(() => {}) },
        {
          ...base,
          id: 'throws',
          run: () => {
            throw new Error('secret inside')
          },
        },
      ],
      undefined,
      { timeoutMs: 20 },
    )
    assert.deepEqual(
      findings.map(({ id, level, remedy }) => [id, level, remedy]),
      [
        ['hangs', 'problem', 'mend it'],
        ['throws', 'problem', 'mend it'],
      ],
    )
    assert.doesNotMatch(JSON.stringify(findings), /secret inside/)
  })

  it('judge clocks only as far as they are known, and latency by median and tail', () => {
    const clocks = [
      clockResult(900, 1),
      clockResult(1500, 1),
      clockResult(-1500, 600),
      clockResult(-20_000, 5),
    ]
    assert.deepEqual(
      clocks.map(({ level }) => level),
      ['ok', 'warning', 'ok', 'problem'],
    )
    const fast = Array.from({ length: 99 }, () => 1)
    const levels = [fast, [...fast, 200], fast.map(() => 20), fast.map(() => 200)].map((figuresMs) => {
      return latencyResult('PING', figuresMs).level
    })
    assert.deepEqual(levels, ['ok', 'warning', 'warning', 'problem'])
  })
})
