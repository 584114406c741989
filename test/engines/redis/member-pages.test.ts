import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addAll, customers, newFixa } from '../../../src/conformance/support.js'
import { oneServer } from '../../support/redis-engines.js'

const { open, raw } = oneServer()

describe('pages of members in Redis', () => {
  it('that end in the middle of a step go on, also when the set has shrunk', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 4000))
    const found: string[] = []
    const take = async (after: string | undefined) => {
      const page = (await allowlists.members.page('a', after, 1))!
      found.push(...page.members.map(({ customerId }) => customerId))
      return page.next
    }
    let next: string | undefined
    for (let i = 0; i < 8; i++) next = await take(next)
    assert.match(next!, /^0\.0:0:0:10:\d+:./)
    const gone = customers(60, 4000)
    for (let i = 0; i < gone.length; i += 500) await raw('SREM', 'allowlist:a', ...gone.slice(i, i + 500))
    while (next !== undefined) next = await take(next)
    for (const id of customers(0, 60)) assert.ok(found.includes(id), id)
  })

  it('refuse a place that no page can have ended at', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    for (const after of ['x', '0.0', '0.0:0:0:1000000:0:a', '0.0:0:-1']) {
      await assert.rejects(allowlists.members.page('a', after, 1), { code: 'INVALID_INPUT' })
    }
    assert.deepEqual(await allowlists.members.page('a', '7.7:9:0', 1), { members: [] })
  })

  it('never miss who stays, while the set grows and shrinks', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    const stay = customers(0, 400)
    await addAll(allowlists, 'a', stay)
    let passing: string[] = []
    const found = new Set<string>()
    let next: string | undefined
    let pages = 0
    do {
      const page = (await allowlists.members.page('a', next, 37))!
      assert.ok(page.members.length <= 37)
      for (const { customerId } of page.members) found.add(customerId)
      next = page.next
      if (passing.length > 0) await raw('SREM', 'allowlist:a', ...passing)
      passing = pages++ % 2 === 0 ? Array.from({ length: 3000 }, (_, i) => `passing-${i}`) : []
      if (passing.length > 0) await raw('SADD', 'allowlist:a', ...passing)
    } while (next !== undefined && pages < 200)
    assert.equal(next, undefined)
    for (const id of stay) assert.ok(found.has(id), id)
  })
})
