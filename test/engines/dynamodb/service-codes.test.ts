import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../../src/engines/dynamodb/tables/tables.js'
import type { Catraca } from '../../../src/index.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { openPatiently } from '../../support/patient.js'

const dynamo = await startDynamo()
const email = { channel: 'email', address: 'user@example.com' } as const
const phone = { channel: 'phone', address: '+5511999998888' } as const

/** A hundred at one item take an emulator on a busy machine seconds. */
const PATIENT = { requestTimeoutMs: 30_000, readTimeoutMs: 30_000, writeTimeoutMs: 30_000 }

async function openTwo(t: TestContext) {
  const names = dynamo.names()
  const client = dynamo.client()
  await createTables(client.sdk, names, TABLE_ROLES)
  const open = async (aheadMs = 0): Promise<Catraca> => {
    const now = () => Date.now() + aheadMs
    const catraca = await openPatiently({
      store: dynamo.url(names),
      sweepIntervalMs: 0,
      clock: { now },
      dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0, now, ...PATIENT },
      codes: { pepper: 'a-pepper-for-these-tests', digits: 12, timeoutMs: 30_000 },
    })
    t.after(() => catraca.close())
    return catraca
  }
  const scan = async () => (await client.scan('test', { TableName: names.guards })).items
  return { one: await open(), two: await open(), open, scan }
}

async function issued(catraca: Catraca, request: Parameters<Catraca['codes']['issue']>[0]): Promise<string> {
  const answer = await catraca.codes.issue(request)
  assert.ok(answer.issued)
  return answer.code
}

describe('one-time codes over DynamoDB', () => {
  it('work once over two instances, whoever asks at the same time, and leave no failure', async (t) => {
    const { one, two } = await openTwo(t)
    const code = await issued(one, email)
    const verifies = Array.from({ length: 100 }, (_, i) =>
      (i % 2 === 0 ? one : two).codes.verify({ ...email, code }),
    )
    const answers = await Promise.all(verifies)
    assert.equal(answers.filter(({ valid }) => valid).length, 1)
    assert.deepEqual(await one.codes.status(email), { pending: false, failures: 0 })
  })

  it('expire by the time of DynamoDB, whatever the clock of a process says', async (t) => {
    const { one, open } = await openTwo(t)
    const fast = await open(11 * 60_000)
    const code = await issued(one, email)
    assert.deepEqual(await fast.codes.verify({ ...email, code }), { valid: true })
    const answer = await fast.codes.issue(phone)
    assert.ok(answer.issued)
    const leftMs = Date.parse(answer.expiresAt) - Date.now()
    assert.ok(leftMs > 298_000 && leftMs < 302_000, `${leftMs}`)
  })

  it('are kept as hashes, in items that expire', async (t) => {
    const { one, scan } = await openTwo(t)
    const codes = [await issued(one, email), await issued(one, { ...phone, purpose: 'pix' })]
    await one.codes.verify({ ...email, code: '123456' })
    const items = await scan()
    const dump = JSON.stringify(items)
    for (const code of codes) assert.ok(!dump.includes(code))
    const item = items.find(({ PK }) => PK?.S === 'OTP#email#user@example.com')
    assert.deepEqual([item?.SK?.S, item?.attempts?.N], ['PURPOSE#', '1'])
    const left = Number(item?.ttl?.N) - Date.now() / 1000
    assert.ok(left > 590 && left <= 601, `${left}`)
    assert.equal(items.find(({ PK }) => PK?.S === 'OTP#phone#+5511999998888')?.SK?.S, 'PURPOSE#pix')
  })
})
