import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seeded } from '../../../src/cli/load/arrivals.js'
import { numberedCustomers } from '../../../src/cli/load/customers.js'
import { membersFor } from '../../../src/cli/load/members.js'
import type { MixContext } from '../../../src/cli/load/mixes/mix.js'
import { COMPOUNDS, MIXES, openMix, parseMix } from '../../../src/cli/load/mixes/table.js'
import { originOf } from '../../../src/cli/load/origin.js'
import type { LoadRequest } from '../../../src/cli/load/request.js'

const context = (): MixContext => ({
  ...{ origin: originOf('http://127.0.0.1:1', undefined), random: seeded(5), lists: ['a', 'b'] },
  ...{ members: numberedCustomers(5000), keys: 10, cacheSpace: 'load', runId: 'run' },
})

function shares(text: string, count = 20_000): Record<string, number> {
  const next = openMix(parseMix(text), context())
  const counts: Record<string, number> = {}
  for (let i = 0; i < count; i++) {
    const { name } = next().operation
    counts[name] = (counts[name] ?? 0) + 1 / count
  }
  return counts
}

function near(found: number | undefined, expected: number): void {
  assert.ok(Math.abs((found ?? 0) - expected) < 0.015, `${found} where ${expected} belongs`)
}

describe('mixes', () => {
  it('source: 80 % hot members, 15 % strangers, 5 % members who have not come lately', () => {
    const found = shares('source')
    near(found['check: cached'], 0.8)
    near(found['check: filtered'], 0.15)
    near(found['check: confirmed'], 0.05)
    const members = new Set(numberedCustomers(5000))
    const next = openMix(parseMix('source'), context())
    const hot = new Set<string>()
    const walked: string[] = []
    for (let i = 0; i < 20_000; i++) {
      const { operation, text } = next()
      const customer = /^GET \/customers\/([^/]+)\/check\?allowlists=a,b HTTP/.exec(text)![1]!
      assert.equal(members.has(customer), operation.name !== 'check: filtered')
      if (operation.name === 'check: cached') hot.add(customer)
      if (operation.name === 'check: confirmed') walked.push(customer)
    }
    assert.equal(hot.size, 100)
    assert.equal(new Set(walked).size, walked.length, 'each of them once')
    assert.ok(walked.every((customer) => !hot.has(customer)))
  })

  it('source: the list is so long that nobody who was confirmed comes back within a minute', () => {
    assert.equal(membersFor({ rate: 100 }), 100_000)
    for (const rate of [30_000, 100_000]) assert.ok(membersFor({ rate }) >= 0.05 * rate * 60)
    assert.ok(membersFor({ rate: 1, ramp: { from: 1, to: 90_000 } }) >= 0.05 * 90_000 * 60)
    assert.ok(membersFor({ rate: 1000, findMax: true }) >= 0.05 * 40_000 * 60)
    assert.equal(membersFor({ rate: 1_000_000 }), 1_000_000)
  })

  it('by weight, whatever they add up to', () => {
    const found = shares('checks=8,limits=1.5,tokens=0.5')
    near(found.check, 0.8)
    near(found['limits: acquire'], 0.15)
    near(found['tokens: check'], 0.05)
  })

  it('idempotency claims, completes with the token, and asks again', () => {
    const next = openMix(parseMix('idempotency'), context())
    const claim = next()
    assert.match(claim.text, /^POST \/idempotency\/LOAD\/run-0 /)
    claim.answered!(201, '{"token":"t-1"}')
    const complete = next()
    assert.match(complete.text, /^POST \/idempotency\/LOAD\/run-0\/complete [\s\S]*"token":"t-1"/)
    complete.answered!(200, '')
    const replay = next()
    assert.deepEqual([replay.operation.name, replay.text], ['idempotency: replay', claim.text])
    assert.match(next().text, /LOAD\/run-1 /)
  })

  it('locks give back what they took, and nothing they did not get', () => {
    const next = openMix(parseMix('locks'), context())
    const acquire = next()
    acquire.answered!(201, '{"token":"t-1"}')
    assert.match(next().text, /^POST \/locks\/run-0\/release [\s\S]*\{"token":"t-1"\}$/)
    next().answered!(409, '{"token":"not mine"}')
    next().answered!(201, 'no JSON')
    assert.match(next().text, /^POST \/locks\/run-3 /)
  })

  it('locks use a name again once it was given back', () => {
    const next = openMix(parseMix('locks'), context())
    next().answered!(201, '{"token":"t-1"}')
    next().answered!(204, '')
    assert.match(next().text, /^POST \/locks\/run-0 /)
    assert.match(next().text, /^POST \/locks\/run-1 /)
  })

  it('bodies are as long as their header says', () => {
    const texts: LoadRequest[] = Object.keys(MIXES).map((name) => MIXES[name]!.open(context())())
    for (const { text } of texts) {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      assert.equal(Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0), body.length, head)
    }
  })

  it('are refused when they are none', () => {
    for (const wrong of [
      '',
      'nothing',
      'checks=0',
      'checks=-1',
      'checks=x',
      'checks=1=2',
      'checks,checks',
      'checks=',
      'toString',
    ]) {
      assert.throws(() => parseMix(wrong), { code: 'INVALID_INPUT' }, wrong)
    }
    for (const name of [...Object.keys(MIXES), ...Object.keys(COMPOUNDS)])
      assert.ok(parseMix(name).length > 0)
  })
})
