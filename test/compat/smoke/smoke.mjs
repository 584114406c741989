// Every guard once, on the store given; run on each version of Node.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { openCatraca, openDynamodbTables } from 'catraca'
import { startServer } from 'catraca/server'

const store = process.argv[2]
if (store.startsWith('dynamodb:')) {
  const tables = await openDynamodbTables(store)
  await tables.create()
  tables.close()
}
const catraca = await openCatraca({ store, codes: { pepper: 'a pepper of this smoke run, long enough' } })
await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
await catraca.allowlists.import('vip', Readable.from([Buffer.from('ann\nbob\n')]), { format: 'text' })
assert.equal((await catraca.allowlists.check('ann', ['vip'], { consistency: 'strong' })).overallAllowed, true)
await catraca.allowlists.remove('vip', 'ann')
assert.equal(
  (await catraca.allowlists.check('ann', ['vip'], { consistency: 'strong' })).overallAllowed,
  false,
)

const limits = { rpm: { capacity: 1, refillPeriodSeconds: 60 } }
const acquire = () => catraca.limits.acquire({ entity: 'ann', resource: 'api', limits })
assert.deepEqual([(await acquire()).allowed, (await acquire()).allowed], [true, false])

const pay = () => catraca.idempotency.run({ operation: 'PAY', key: 'one', payload: 1 }, async () => 'paid')
assert.deepEqual([(await pay()).outcome, (await pay()).outcome], ['executed', 'replayed'])

const space = catraca.cache.space({ name: 'smoke', ttlMs: 60_000 })
assert.equal(await space.getOrLoad('key', async () => 'value'), 'value')
assert.equal(await space.get('key'), 'value')

const fences = [0, 1].map(() =>
  catraca.locks.withLock('job', { ttlMs: 5000, waitMs: 5000 }, async ({ fence }) => fence),
)
const [first, second] = await Promise.all(fences)
assert.notEqual(first, second)

const address = 'ann@example.com'
const { code } = await catraca.codes.issue({ channel: 'email', address })
assert.equal((await catraca.codes.verify({ channel: 'email', address, code })).valid, true)

await catraca.tokens.revoke({ jti: 'one', expiresAt: new Date(Date.now() + 60_000) })
assert.equal(await catraca.tokens.isRevoked({ jti: 'one' }), true)

const server = await startServer(catraca, { port: 0 })
const answer = await fetch(`${server.url}/customers/bob/check?allowlists=vip`)
assert.equal((await answer.json()).overallAllowed, true)
assert.equal((await fetch(`${server.url}/metrics`)).status, 200)
await server.stop()
await catraca.close()
console.log('all guards work')
