import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../src/engines/dynamodb/tables/tables.js'
import { type Catraca, openCatraca } from '../../src/index.js'
import { CREDENTIALS, startDynamo } from '../support/dynamodb-server.js'

const dynamo = await startDynamo()
const email = { channel: 'email', address: 'user@example.com' } as const
const phone = { channel: 'phone', address: '+5511999998888' } as const

async function openTwo(t: TestContext) {
  const names = dynamo.names()
  const client = dynamo.client()
  await createTables(client.sdk, names, TABLE_ROLES)
  const open = async (): Promise<Catraca> => {
    const catraca = await openCatraca({
      store: dynamo.url(names),
      sweepIntervalMs: 0,
      dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
      codes: { pepper: 'a-pepper-for-these-tests', digits: 12 },
    })
    t.after(() => catraca.close())
    return catraca
  }
  const scan = async () => (await client.scan('test', { TableName: names.guards })).items
  return { one: await open(), two: await open(), scan }
}

async function issued(catraca: Catraca, request: Parameters<Catraca['codes']['issue']>[0]): Promise<string> {
  const answer = await catraca.codes.issue(request)
  assert.ok(answer.issued)
  return answer.code
}

describe('one-time codes over DynamoDB', () => {
  it('work once over two instances, whoever asks at the same time', async (t) => {
    const { one, two } = await openTwo(t)
    const code = await issued(one, email)
    const verifies = Array.from({ length: 100 }, (_, i) =>
      (i % 2 === 0 ? one : two).codes.verify({ ...email, code }),
    )
    const answers = await Promise.all(verifies)
    assert.equal(answers.filter(({ valid }) => valid).length, 1)
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
