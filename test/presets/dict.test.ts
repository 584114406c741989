import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Catraca } from '../../src/app/open-catraca.js'
import {
  DICT_IDEMPOTENCY,
  DICT_REDIS,
  type DictCache,
  type DictClaim,
  type DictEntry,
  dictCache,
} from '../../src/presets/dict/index.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'

const ENTRY: DictEntry = {
  id: '550e8400-e29b-41d4-a716-446655440000',
  key_type: 'CPF',
  key_value: '12345678909',
  status: 'ACTIVE',
}
const CLAIM: DictClaim = {
  id: 'c1234567-89ab-cdef-0123-456789abcdef',
  workflow_id: 'claim-workflow-123',
  entry_id: ENTRY.id,
  status: 'OPEN',
}
const BY_ID = `dict:entry:id:${ENTRY.id}`
const BY_KEY = 'dict:entry:key:CPF:12345678909'
const STATUS = `dict:claim:status:${CLAIM.id}`
const INDEX = `dict:claim:index:entry:${ENTRY.id}`
const forbidden = () => assert.fail('nothing was to be loaded')

describe('the DICT preset on redis', () => {
  let servers: RedisServers
  let catraca: Catraca
  let dict: DictCache<DictEntry, DictClaim, Record<string, unknown>>
  const say = (...args: string[]) => servers.servers[0]!.say(...args)
  const names = async () =>
    ((await say('KEYS', '*')) as string[]).filter((name) => /^(dict|workflow|key_count):/.test(name)).sort()

  async function lives(name: string, seconds: number): Promise<void> {
    const left = Number(await say('TTL', name))
    assert.ok(left > seconds * 0.9 && left <= seconds, `${name} lives ${left} s, not ${seconds}`)
  }

  before(async () => {
    servers = await startSingle()
    catraca = await openPatiently({ store: servers.storeUrl, sweepIntervalMs: 0 })
    // One tier, so that every call shows what is stored.
    dict = dictCache(catraca.cache, { l1: false })
  })
  beforeEach(() => servers.flush())
  after(async () => {
    await catraca.close()
    await servers.stop()
  })

  it('writes an entry through under both names, for five minutes', async () => {
    let writes = 0
    await dict.entries.save(ENTRY, async () => {
      assert.equal(await say('EXISTS', BY_ID, BY_KEY), 0, 'the source comes first')
      writes++
    })
    assert.equal(writes, 1)
    assert.deepEqual(await names(), [BY_ID, BY_KEY])
    for (const name of [BY_ID, BY_KEY]) {
      assert.deepEqual(JSON.parse(String(await say('GET', name))), ENTRY)
      await lives(name, 300)
    }
    assert.deepEqual(await dict.entries.byId(ENTRY.id.toUpperCase(), forbidden), ENTRY)
    assert.deepEqual(await dict.entries.byKey(ENTRY, forbidden), ENTRY)
  })

  it('loads an entry by either name', async () => {
    assert.deepEqual(await dict.entries.byKey(ENTRY, async () => ENTRY), ENTRY)
    assert.deepEqual(await names(), [BY_KEY])
    assert.deepEqual(await dict.entries.byId(ENTRY.id, async () => ENTRY), ENTRY)
    assert.deepEqual(await names(), [BY_ID, BY_KEY])
    await assert.rejects(
      dict.entries.byKey({ ...ENTRY, key_value: '12345678900' }, forbidden),
      /check digits/,
    )
  })

  it('removes both names when an entry is deleted or its status changes, also when that failed', async () => {
    const failing = async () => {
      throw new Error('the database is away')
    }
    for (const end of ['delete', 'changeStatus'] as const) {
      await dict.entries.save(ENTRY, async () => {})
      await dict.entries[end](ENTRY, async () => assert.equal((await names()).length, 2))
      assert.deepEqual(await names(), [], end)
      await dict.entries.save(ENTRY, async () => {})
      await assert.rejects(dict.entries[end](ENTRY, failing), /database is away/)
      assert.deepEqual(await names(), [], `${end} failed`)
    }
    await dict.entries.save(ENTRY, async () => {})
    await assert.rejects(dict.entries.save({ ...ENTRY, status: 'BLOCKED' }, failing), /database is away/)
    assert.deepEqual(await names(), [])
  })

  it('keeps claims and their status for a minute, those of an entry for five', async () => {
    await dict.claims.ofEntry(ENTRY.id, async () => [])
    await dict.claims.save(CLAIM, async () => {})
    assert.deepEqual(await names(), [`dict:claim:id:${CLAIM.id}`, STATUS])
    assert.equal(await say('GET', STATUS), '"OPEN"')
    await lives(`dict:claim:id:${CLAIM.id}`, 60)
    await lives(STATUS, 60)
    const found = await dict.claims.ofEntry(ENTRY.id, async () => [CLAIM.id, CLAIM.id])
    assert.deepEqual([...found], [CLAIM.id])
    assert.deepEqual(await say('SMEMBERS', INDEX), [CLAIM.id])
    await lives(INDEX, 300)
    assert.deepEqual([...(await dict.claims.ofEntry(ENTRY.id, forbidden))], [CLAIM.id])
    assert.deepEqual(await dict.claims.byId(CLAIM.id, forbidden), CLAIM)
    assert.equal(await dict.claims.status(CLAIM.id, forbidden), 'OPEN')
  })

  it('removes what told of a claim when it ends, and keeps what is for audit', async () => {
    for (const status of ['CANCELLED', 'COMPLETED', 'EXPIRED'] as const) {
      await dict.claims.save(CLAIM, async () => {})
      await dict.claims.ofEntry(ENTRY.id, async () => [CLAIM.id])
      await dict.workflows.setStatus(CLAIM.workflow_id, 'RUNNING')
      await dict.workflows.setMetadata(CLAIM.workflow_id, { claim_id: CLAIM.id })
      assert.equal((await names()).length, 5)
      await dict.claims.save({ ...CLAIM, status }, async () => {})
      assert.deepEqual(await names(), ['workflow:claim:claim-workflow-123:metadata'], status)
    }
    const unknown = { ...CLAIM, status: 'LOST' as 'OPEN' }
    await assert.rejects(dict.claims.save(unknown, forbidden), /status must be one of OPEN/)
    await assert.rejects(dict.claims.save({ ...CLAIM, workflow_id: 'a:b' }, forbidden), /workflow_id/)
  })

  it('keeps the status of a workflow for 30 seconds and what is for audit for 30 days', async () => {
    const id = CLAIM.workflow_id
    assert.equal(await dict.workflows.status(id, () => 'RUNNING'), 'RUNNING')
    await lives(`workflow:claim:${id}:status`, 30)
    const metadata = { workflow_id: id, workflow_type: 'ClaimWorkflow' }
    assert.deepEqual(await dict.workflows.metadata(id, async () => metadata), metadata)
    await lives(`workflow:claim:${id}:metadata`, 30 * 86_400)
    await dict.workflows.setStatus(id, 'COMPLETED')
    assert.equal(await dict.workflows.status(id, forbidden), 'COMPLETED')
    await assert.rejects(dict.workflows.setStatus(id, 'DONE' as 'FAILED'), /must be one of RUNNING/)
    await assert.rejects(dict.workflows.status('a:b', forbidden), /workflow_id/)
  })

  it('counts keys by owner, for five minutes', async () => {
    assert.equal(await dict.keyCounts.get({ cpf: '12345678909' }, async () => 3), 3)
    assert.equal(await dict.keyCounts.get({ cnpj: '12abc34501de35' }, async () => 20), 20)
    assert.deepEqual(await names(), ['key_count:cnpj:12ABC34501DE35', 'key_count:cpf:12345678909'])
    assert.equal(await say('GET', 'key_count:cpf:12345678909'), '3')
    await lives('key_count:cpf:12345678909', 300)
    await dict.keyCounts.forget({ cpf: '12345678909' })
    assert.equal(await dict.keyCounts.get({ cpf: '12345678909' }, async () => 4), 4)
    await assert.rejects(
      dict.keyCounts.get({ cpf: '1' }, async () => 0),
      /cpf must be a CPF/,
    )
  })

  it('has one record for each request id, whose operation counts, on every engine', async (t) => {
    const settings = [
      { store: 'memory:', idempotency: DICT_IDEMPOTENCY },
      { store: servers.storeUrl, idempotency: DICT_IDEMPOTENCY },
      { store: servers.storeUrl, redis: DICT_REDIS },
    ]
    for (const [i, options] of settings.entries()) {
      const { idempotency, close } = await openPatiently({ ...options, sweepIntervalMs: 0 })
      t.after(close)
      const claim = { operation: 'CreateClaim', key: `req-${i}`, payload: { a: 1 } }
      assert.equal((await idempotency.run(claim, () => 'claim')).outcome, 'executed')
      assert.equal((await idempotency.run(claim, forbidden)).outcome, 'replayed')
      const entry = { ...claim, operation: 'CreateEntry' }
      const refused = { outcome: 'refused', reason: 'other-request' }
      assert.deepEqual(await idempotency.run(entry, forbidden), refused)
      const record = (await idempotency.get(entry))!
      assert.deepEqual([record.operationType, record.idempotencyKey], ['CreateClaim', `req-${i}`])
      if (i > 0) assert.equal(await say('GET', `bridge:idempotency:req-${i}`), '"claim"')
    }
  })
})
