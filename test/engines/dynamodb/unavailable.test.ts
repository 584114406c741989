import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openCatraca } from '../../../src/app/open-catraca.js'
import { isCatracaError } from '../../../src/core/errors.js'
import type { OnUnavailable } from '../../../src/guards/allowlist/types.js'
import { startServer } from '../../../src/server/index.js'
import { send, until } from '../../server/support.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'

/** What checks say when DynamoDB has gone. */
describe('without DynamoDB', async () => {
  const server = await startDynamo()
  const { names } = await makeTables(server)

  async function open(t: TestContext, onUnavailable: OnUnavailable) {
    const catraca = await openCatraca({
      store: server.url(names),
      onUnavailable,
      sweepIntervalMs: 0,
      dynamodb: {
        credentials: CREDENTIALS,
        readTimeoutMs: 3000,
        writeTimeoutMs: 3000,
        revalidateAfterMs: 50,
        staleAfterMs: 300,
        probeIntervalMs: 0,
      },
      membership: { staleAfterMs: 300, compareIntervalMs: 50, verificationEntries: 0 },
    })
    t.after(() => catraca.close())
    return catraca
  }

  it('a check is an error when it must block, and allowed but marked when it may not', async (t) => {
    const [block, allow] = [await open(t, 'block'), await open(t, 'allow')]
    const http = await startServer(block, { port: 0 })
    t.after(() => http.stop())
    await block.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await block.allowlists.add('vip', 'alice')
    for (const { allowlists } of [block, allow]) {
      const { overallAllowed, degraded } = await allowlists.check('alice', ['vip'])
      assert.deepEqual([overallAllowed, degraded], [true, undefined])
    }

    await server.stop()
    await assert.rejects(block.allowlists.check('bob', ['vip'], { consistency: 'strong' }), (error) =>
      isCatracaError(error, 'ENGINE_UNAVAILABLE'),
    )
    await assert.rejects(block.allowlists.add('vip', 'bob'), (error) =>
      isCatracaError(error, 'ENGINE_UNAVAILABLE'),
    )
    const path = '/customers/bob/check?allowlists=vip'
    await until('what was known is too old', async () => (await send(http.url, 'GET', path)).status === 503)
    const { json } = await send(http.url, 'GET', path)
    assert.equal(json.code, 'ENGINE_UNAVAILABLE')

    const { overallAllowed, degraded, results } = await allow.allowlists.check('bob', ['vip'])
    assert.deepEqual([overallAllowed, degraded], [true, true])
    assert.deepEqual([results[0]?.reason, results[0]?.degraded], ['UNAVAILABLE', true])
    const health = await block.health()
    assert.deepEqual([health.status, health.engines[0]?.name], ['unhealthy', 'dynamodb'])
  })
})
