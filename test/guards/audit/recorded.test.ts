import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Catraca } from '../../../src/app/open-catraca.js'
import type { AuditEntry } from '../../../src/guards/audit/types.js'
import { openPatiently } from '../../support/patient.js'
import { FIXA, NOW, open } from './support.js'

const DAY_MS = 24 * 3_600_000
const RPM = { rpm: { capacity: 5, refillPeriodSeconds: 60 } }

/** The oldest first, without what differs from run to run, and without what follows from before and after. */
async function recorded(catraca: Catraca): Promise<Omit<AuditEntry, 'id' | 'at' | 'actor' | 'changes'>[]> {
  const { items } = await catraca.audit.list({ limit: 1000 })
  return items.map(({ id: _, at: __, actor: ___, changes: ____, ...rest }) => rest).reverse()
}

async function* rows(...ids: string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(['customerId', ...ids].join('\n'))
}

describe('the audit trail of the library', () => {
  it('tells of lists what they were and what they became', async (t) => {
    const { catraca } = await open(t)
    const { allowlists } = catraca
    const config = { strategy: 'PERCENTAGE', percentage: 0.1 } as const
    await allowlists.create({ id: 'w', name: 'Wave', type: 'ONDA', config })
    await allowlists.update('w', { config: { ...config, percentage: 0.5 } })
    await allowlists.update('w', { name: 'Onda' })
    await allowlists.delete('w')
    await assert.rejects(allowlists.create({ id: 'x', name: '', type: 'FIXA' }))
    await assert.rejects(allowlists.update('no', { name: 'x' }))
    const target = { kind: 'allowlist', id: 'w' }
    const half = { ...config, percentage: 0.5 }
    assert.deepEqual(await recorded(catraca), [
      {
        action: 'allowlist.create',
        target,
        after: { name: 'Wave', type: 'ONDA', precision: 'exact', config },
      },
      {
        action: 'allowlist.update',
        target,
        before: { config, version: 1 },
        after: { config: half, version: 2 },
      },
      {
        action: 'allowlist.update',
        target,
        before: { name: 'Wave', version: 2 },
        after: { name: 'Onda', version: 3 },
      },
      {
        action: 'allowlist.delete',
        target,
        before: {
          ...{ name: 'Onda', type: 'ONDA', precision: 'exact', config: half },
          ...{ version: 3, customerCount: 0 },
        },
      },
    ])
  })

  it('tells a pause and its end from other changes, with the rule that was paused', async (t) => {
    const { catraca } = await open(t)
    const { allowlists } = catraca
    const config = { strategy: 'PERCENTAGE', percentage: 0.1 } as const
    await allowlists.create({ id: 'w', name: 'Wave', type: 'ONDA', config })
    await allowlists.pause('w')
    await allowlists.pause('w')
    await allowlists.resume('w')
    const target = { kind: 'allowlist', id: 'w' }
    const closed = { ...config, percentage: 0 }
    assert.deepEqual((await recorded(catraca)).slice(1), [
      {
        action: 'allowlist.pause',
        target,
        before: { config, version: 1 },
        after: { config: closed, version: 2 },
      },
      {
        action: 'allowlist.resume',
        target,
        before: { config: closed, version: 2 },
        after: { config, version: 3 },
      },
    ])
  })

  it('tells of members one by one, and of an import once with its counts', async (t) => {
    const { catraca } = await open(t)
    const { allowlists } = catraca
    await allowlists.create(FIXA)
    await allowlists.add('vip', 'ann', { addedBy: 'me', metadata: { a: 1 } })
    await allowlists.add('vip', 'ann')
    await allowlists.remove('vip', 'ann')
    await allowlists.remove('vip', 'ann')
    await allowlists.import('vip', rows('b', 'c', 'c', '/'), { importId: 'one' })
    await allowlists.rebuild('vip')
    const target = { kind: 'allowlist', id: 'vip' }
    const ann = { ...target, customerId: 'ann' }
    assert.deepEqual((await recorded(catraca)).slice(1), [
      {
        action: 'allowlist.member.add',
        target: ann,
        after: { addedBy: 'me', metadata: { a: 1 } },
        detail: { added: true },
      },
      { action: 'allowlist.member.add', target: ann, detail: { added: false } },
      { action: 'allowlist.member.remove', target: ann },
      {
        action: 'allowlist.import',
        target,
        detail: {
          ...{ importId: 'one', mode: 'add', added: 2, unchanged: 1, removed: 0, rejected: 1 },
          customerCount: 2,
        },
      },
      { action: 'allowlist.rebuild', target },
    ])
  })

  it('tells of limits, entities, locks, tokens and records', async (t) => {
    const { catraca } = await open(t)
    const { limits, locks, codes, tokens, idempotency } = catraca
    const address = { level: 'entity', identifier: 'ann', resource: 'gpt' } as const
    const before = { limits: { rpm: { ...RPM.rpm } } }
    const after = { limits: { rpm: { ...RPM.rpm, capacity: 9 } } }
    await limits.setConfig(address, before)
    await limits.setConfig(address, after)
    await limits.acquire({ entity: 'ann', resource: 'gpt' })
    await limits.reset('ann', 'gpt')
    await limits.deleteConfig(address)
    await limits.deleteConfig(address)
    await limits.setEntity('ann', { parent: 'org' })
    await limits.deleteEntity('ann')
    await locks.acquire('job', { ttlMs: 10_000 })
    await locks.forceRelease('job')
    await locks.forceRelease('job')
    const mailbox = { channel: 'email', address: 'ann@example.com' } as const
    await codes.issue(mailbox)
    await codes.revoke(mailbox)
    await codes.revoke(mailbox)
    const expiresAt = '2030-01-02T00:00:00.000Z'
    await tokens.revoke({ jti: 'a', expiresAt })
    await tokens.revokeAll([{ jti: 'b', expiresAt }])
    await tokens.revokeAll(Array.from({ length: 101 }, (_, i) => ({ jti: `t${i}`, expiresAt })))
    await tokens.revokeSubject({ subject: 'ann', notBefore: new Date(NOW), expiresAt })
    await idempotency.run({ operation: 'PAY', key: 'k' }, () => 1)
    await idempotency.delete({ operation: 'PAY', key: 'k' })
    await idempotency.delete({ operation: 'PAY', key: 'k' })
    const config = { kind: 'limit', id: 'gpt', level: 'entity', entity: 'ann' }
    const entity = { kind: 'entity', id: 'ann' }
    const record = { parent: 'org', cascade: true }
    assert.deepEqual(await recorded(catraca), [
      { action: 'limit.config.set', target: config, after: before },
      { action: 'limit.config.set', target: config, before, after },
      { action: 'limit.reset', target: { kind: 'limit', id: 'gpt', entity: 'ann' } },
      { action: 'limit.config.delete', target: config, before: after },
      { action: 'entity.set', target: entity, after: record },
      { action: 'entity.delete', target: entity, before: record },
      { action: 'lock.break', target: { kind: 'lock', id: 'job' } },
      { action: 'code.revoke', target: { kind: 'code', id: codes.addressHash(mailbox), channel: 'email' } },
      { action: 'token.revoke', target: { kind: 'token', id: 'a' }, after: { expiresAt } },
      { action: 'token.revoke', target: { kind: 'token', id: 'b' }, after: { expiresAt } },
      { action: 'token.revoke', target: { kind: 'token', id: '*' }, detail: { count: 101 } },
      {
        action: 'subject.revoke',
        target: { kind: 'subject', id: 'ann' },
        after: { notBefore: new Date(NOW).toISOString(), expiresAt },
      },
      {
        action: 'idempotency.delete',
        target: { kind: 'idempotency', id: 'k', operation: 'PAY' },
        before: { status: 'COMPLETED', attempt: 1, createdAt: new Date(NOW).toISOString() },
      },
    ])
    assert.deepEqual(catraca.audit.stats().entries['token.revoke'], 3)
    assert.equal(catraca.audit.stats().failures, 0)
  })

  it('holds nothing secret of keys, codes and addresses', async (t) => {
    const { catraca } = await open(t)
    const { key } = await catraca.keys.create({ name: 'ops', scopes: ['admin', 'read'] })
    const { records } = await catraca.keys.stored()
    const [{ hash } = assert.fail()] = records
    const id = hash.slice(0, 12)
    const issued = await catraca.codes.issue({ channel: 'email', address: 'ann@example.com' })
    assert.ok('code' in issued)
    await catraca.keys.revoke('ops')
    const target = { kind: 'key', id: 'ops' }
    assert.deepEqual(await recorded(catraca), [
      { action: 'key.create', target, after: { id, scopes: ['admin', 'read'] } },
      { action: 'key.revoke', target, before: { id, scopes: ['admin', 'read'] } },
    ])
    const text = JSON.stringify(await catraca.audit.list())
    for (const secret of [key, key.slice(4), hash, 'ann@example.com'])
      assert.ok(!text.includes(secret), secret)
  })

  it('names who did it, through whatever is awaited', async (t) => {
    const { catraca } = await open(t, { audit: { actor: { kind: 'library', name: 'billing' } } })
    const { allowlists, audit } = catraca
    await allowlists.create(FIXA)
    const add = (name: string) =>
      audit.as({ name }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        await allowlists.add('vip', name)
        return name
      })
    assert.deepEqual(await Promise.all(['ann', 'bob', 'cid'].map(add)), ['ann', 'bob', 'cid'])
    await allowlists.add('vip', 'nobody')
    assert.throws(() => audit.as({ name: '' }, () => {}), /name must be/)
    const { items } = await audit.list()
    assert.deepEqual(
      items
        .map(({ actor, target }) => [actor.kind, actor.name, target.customerId])
        .sort((a, b) => String(a[2]).localeCompare(String(b[2]))),
      [
        ['library', 'ann', 'ann'],
        ['library', 'bob', 'bob'],
        ['library', 'cid', 'cid'],
        ['library', 'billing', 'nobody'],
        ['library', 'billing', undefined],
      ],
    )
  })

  it('knows who acts also when somebody else has come to an end meanwhile', async (t) => {
    const { catraca } = await open(t)
    const { allowlists, audit } = catraca
    await allowlists.create(FIXA)
    const first = audit.as({ name: 'ann' }, () => allowlists.add('vip', 'a'))
    await audit.as({ name: 'bob' }, async () => {
      await first
      await allowlists.add('vip', 'b')
    })
    assert.deepEqual(
      (await audit.list({ action: 'allowlist.member' })).items.map(({ actor }) => actor.name),
      ['bob', 'ann'],
    )
  })

  it('does as its settings say: off, without members', async (t) => {
    const off = await open(t, { audit: { enabled: false } })
    await off.catraca.allowlists.create(FIXA)
    assert.deepEqual(await off.catraca.audit.list(), { items: [] })
    const { catraca } = await open(t, { audit: { members: false } })
    await catraca.allowlists.create(FIXA)
    await catraca.allowlists.add('vip', 'ann')
    await catraca.allowlists.import('vip', rows('b'))
    assert.deepEqual(
      (await recorded(catraca)).map(({ action }) => action),
      ['allowlist.create', 'allowlist.import'],
    )
  })

  it('refuses a time that cannot be kept before it opens a store', async () => {
    const directory = join(tmpdir(), `catraca-audit-unopened-${process.pid}`)
    for (const retentionDays of [0, 1.5, 4000, Number.NaN]) {
      const opening = openPatiently({ store: `embedded:${directory}`, audit: { retentionDays } })
      await assert.rejects(opening, { code: 'CONFIG_INVALID' })
    }
    assert.equal(existsSync(directory), false)
  })

  it('keeps entries for the set time', async (t) => {
    const { catraca, clock } = await open(t, { audit: { retentionDays: 30 } })
    await catraca.allowlists.create(FIXA)
    clock.advance(20 * DAY_MS)
    await catraca.allowlists.add('vip', 'ann')
    clock.advance(10 * DAY_MS + 1)
    assert.deepEqual(
      (await recorded(catraca)).map(({ action }) => action),
      ['allowlist.member.add'],
    )
    await catraca.upkeep()
    clock.set(NOW)
    assert.deepEqual(await recorded(catraca), [], 'the first one was really dropped')
  })
})
