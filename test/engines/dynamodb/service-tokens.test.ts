import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../../src/engines/dynamodb/tables/tables.js'
import type { Catraca } from '../../../src/index.js'
import { until } from '../../server/support.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { openPatiently } from '../../support/patient.js'

const dynamo = await startDynamo()
const inAnHour = () => new Date(Date.now() + 3_600_000)

async function openTwo(t: TestContext) {
  const names = dynamo.names()
  const client = dynamo.client()
  await createTables(client.sdk, names, TABLE_ROLES)
  const open = async (): Promise<Catraca> => {
    const catraca = await openPatiently({
      store: dynamo.url(names),
      sweepIntervalMs: 0,
      dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
      tokens: { staleAfterMs: 60_000 },
    })
    t.after(() => catraca.close())
    return catraca
  }
  const scan = async () => (await client.scan('test', { TableName: names.guards })).items
  return { one: await open(), two: await open(), scan }
}

describe('the token denylist over DynamoDB', () => {
  it('is loaded, followed, and answered from memory', async (t) => {
    const { one, two } = await openTwo(t)
    await one.tokens.revokeAll(
      Array.from({ length: 250 }, (_, i) => ({ jti: `t${i}`, expiresAt: inAnHour() })),
    )
    await two.tokens.warmUp()
    assert.equal(two.tokens.stats().tokens, 250)
    await one.tokens.revoke({ jti: 'later', expiresAt: inAnHour() })
    await one.tokens.revokeSubject({ subject: 'ann', notBefore: new Date(), expiresAt: inAnHour() })
    await until('both are seen', () => two.tokens.peek({ jti: 'later', subject: 'ann' }) === true)
    assert.equal(two.tokens.peek({ jti: 'never' }), false)
    assert.equal(two.tokens.stats().fromStore, 0)
  })

  it('has items that expire, entries of the log not before all they tell of', async (t) => {
    const { one, scan } = await openTwo(t)
    const expiresAt = inAnHour()
    await one.tokens.revoke({ jti: 'a', expiresAt })
    const items = await scan()
    const end = Math.ceil(expiresAt.getTime() / 1000)
    const ttlOf = (partition: string, sort: string) =>
      items.find(({ PK, SK }) => PK?.S === partition && SK?.S === sort)?.ttl?.N
    assert.equal(ttlOf('REVOKED_TOKEN#a', 'REVOKED'), String(end))
    assert.equal(ttlOf('REVOKED_LOG', 'ENTRY#000000000000001'), String(end + 24 * 3600))
  })
})
