import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { MAX_ENTRY_BYTES } from '../../../src/guards/audit/bounded.js'
import { AuditTrail } from '../../../src/guards/audit/index.js'
import type { AuditStore, StoredEntry } from '../../../src/guards/audit/port.js'
import { type AuditEntry, DEFAULT_AUDIT } from '../../../src/guards/audit/types.js'
import { FIXA, NOW, open } from './support.js'

describe('reading the trail', () => {
  it('filters by target, customer, actor, action and time, over pages', async (t) => {
    const { catraca, clock } = await open(t)
    const { allowlists, audit } = catraca
    for (const id of ['a', 'b']) await allowlists.create({ ...FIXA, id })
    for (let i = 0; i < 30; i++) {
      clock.advance(1000)
      const list = i % 2 ? 'a' : 'b'
      await audit.as({ name: i % 3 ? 'ann' : 'bob' }, () => allowlists.add(list, `c${i % 5}`))
    }
    await allowlists.remove('a', 'c1')
    const all = async (query: object, limit = 4) => {
      const found: AuditEntry[] = []
      let cursor: string | undefined
      do {
        const page = await audit.list({ ...query, limit, ...(cursor !== undefined && { cursor }) })
        assert.ok(page.items.length <= limit)
        found.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return found
    }
    assert.equal((await all({})).length, 33)
    assert.deepEqual(await all({}), (await audit.list()).items)
    assert.equal((await all({ target: 'allowlist:a' })).length, 17)
    assert.equal((await all({ target: 'customer:c1' })).length, 7)
    assert.equal((await all({ actor: 'bob' })).length, 10)
    assert.equal((await all({ action: 'allowlist.member' })).length, 31)
    assert.equal((await all({ action: 'allowlist.member.add', target: 'allowlist:b' })).length, 15)
    assert.equal((await all({ search: 'BO' })).length, 10)
    assert.equal((await all({ search: 'c1', target: 'allowlist:a' })).length, 4)
    assert.equal((await all({ action: 'allow' })).length, 0)
    const from = new Date(NOW + 10_000).toISOString()
    const to = new Date(NOW + 20_000).toISOString()
    assert.equal((await all({ from, to })).length, 10)
    assert.equal((await all({ from, to, actor: 'bob' })).length, 4)
  })

  it('refuses wrong questions by the name of the field', async (t) => {
    const { catraca } = await open(t)
    const wrong: [string, object][] = [
      ['limit', { limit: 0 }],
      ['limit', { limit: 1001 }],
      ['cursor', { cursor: 'nonsense' }],
      ['cursor', { cursor: Buffer.from('1zz').toString('base64url') }],
      ['target', { target: 'vip' }],
      ['target', { target: 'house:1' }],
      ['target', { target: 'allowlist:' }],
      ['action', { action: 'DROP' }],
      ['actor', { actor: '' }],
      ['search', { search: '' }],
      ['from', { from: 'yesterday' }],
      ['to', { to: '2030-13-01T00:00:00Z' }],
    ]
    for (const [path, query] of wrong) {
      await assert.rejects(catraca.audit.list(query), (error: CatracaError) => {
        assert.deepEqual([error.code, error.errors?.[0]?.path], ['INVALID_INPUT', path])
        return true
      })
    }
  })

  it('does bounded work in one call, and goes on behind an empty page', async (t) => {
    const { catraca } = await open(t)
    const { allowlists, audit } = catraca
    await allowlists.create(FIXA)
    await allowlists.create({ ...FIXA, id: 'rare' })
    await Promise.all(Array.from({ length: 5200 }, (_, i) => allowlists.add('vip', `c${i}`)))
    const first = await audit.list({ target: 'allowlist:rare' })
    assert.deepEqual(first.items, [])
    assert.ok(first.nextCursor)
    const second = await audit.list({ target: 'allowlist:rare', cursor: first.nextCursor })
    assert.deepEqual(
      second.items.map(({ action }) => action),
      ['allowlist.create'],
    )
  })
})

describe('an entry', () => {
  it('is at most 16 KB: what is too large is cut and says so', async (t) => {
    const { catraca } = await open(t)
    const customerIds = Array.from({ length: 5000 }, (_, i) => `customer-with-a-long-name-${i}`)
    const config = { strategy: 'EXPLICIT_LIST', customerIds } as const
    await catraca.allowlists.create({ id: 'w', name: 'W', type: 'ONDA', config })
    const [entry] = (await catraca.audit.list()).items
    const { after } = entry as { after: { name: string; config: { customerIds: object } } }
    assert.equal(after.name, 'W')
    assert.deepEqual(after.config.customerIds, { cut: true, items: 5000, start: customerIds.slice(0, 20) })
    assert.ok(Buffer.byteLength(JSON.stringify(entry)) <= MAX_ENTRY_BYTES)
  })

  it('is bounded whatever was changed', async () => {
    const stored: StoredEntry[] = []
    const trail = trailOver({ append: async (entries) => void stored.push(...entries) })
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`é${i}`, 'ç'.repeat(5000)]))
    for (const value of [wide, [wide, wide], 'x'.repeat(50_000), { a: { b: { c: { d: [wide] } } } }]) {
      const audited = { action: 'limit.config.set', target: { kind: 'limit', id: 'x' } } as const
      await trail.record(trail.current(), [{ ...audited, before: value, after: value, detail: wide }])
    }
    assert.equal(stored.length, 4)
    for (const { text } of stored) {
      assert.ok(Buffer.byteLength(text) <= MAX_ENTRY_BYTES, `${Buffer.byteLength(text)}`)
      assert.match(text, /"cut":true/)
    }
  })
})

function trailOver(
  store: Partial<AuditStore>,
  onFailure: 'report' | 'fail' = 'report',
  said: unknown[] = [],
) {
  return new AuditTrail({
    store: {
      read: async () => ({ entries: [] }),
      sweep: async () => ({ more: false }),
      ...store,
    } as AuditStore,
    clock: new ManualClock(NOW),
    options: { ...DEFAULT_AUDIT, onFailure },
    changeTimeoutMs: 10_000,
    report: (message) => said.push(message),
  })
}

describe('an entry that cannot be written', () => {
  const failing = { append: () => Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'down')) }
  const audited = {
    action: 'allowlist.member.add',
    target: { kind: 'allowlist', id: 'vip', customerId: 'ann' },
  } as const

  it('is counted and reported, without the customer, and the change stands', async () => {
    const said: string[] = []
    const trail = trailOver(failing, 'report', said)
    await trail.record(trail.current(), [audited])
    assert.deepEqual(trail.stats(), { entries: {}, failures: 1 })
    assert.deepEqual(said, ['an audit entry could not be written (allowlist.member.add)'])
  })

  it('is told to the caller where the setting says so', async () => {
    const trail = trailOver(failing, 'fail')
    await assert.rejects(trail.record(trail.current(), [audited]), (error: CatracaError) => {
      assert.equal(error.code, 'AUDIT_NOT_RECORDED')
      assert.match(error.message, /the change was made/)
      assert.deepEqual(error.facts, { changed: true })
      return true
    })
  })

  it('does not keep those of the same turn from each other', async () => {
    const batches: number[] = []
    const trail = trailOver({ append: async (entries) => void batches.push(entries.length) })
    await Promise.all(Array.from({ length: 1200 }, () => trail.record(trail.current(), [audited])))
    assert.deepEqual(batches, [500, 500, 200])
  })
})
