import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { makeTables } from '../support/dynamodb-engine.js'
import { CREDENTIALS_ENV, startDynamo } from '../support/dynamodb-server.js'
import { startSingle, until } from '../support/redis/index.js'
import { catraca, scratch, serve } from './run.js'

const PASSWORD = 'of-the-hot-tier'

describe('catraca serve with a hot tier', async () => {
  const server = await startDynamo('dynoxide')
  const tables = await makeTables(server)
  const store = ['--store', server.url(tables.names)]

  it('keeps the lists that are named in the Redis that a file names', async () => {
    const redis = await startSingle({ password: PASSWORD })
    const directory = scratch()
    try {
      const vip = ['--id', 'vip', '--name', 'VIP', '--type', 'FIXA']
      const made = await catraca(['allowlist', 'create', ...vip, ...store], { env: CREDENTIALS_ENV })
      assert.equal(made.code, 0, made.stderr)
      writeFileSync(directory.file('hot-tier'), redis.storeUrl)
      const env = {
        ...CREDENTIALS_ENV,
        CATRACA_DYNAMODB_HOT_TIER_FILE: directory.file('hot-tier'),
        CATRACA_DYNAMODB_HOT_LISTS: 'vip, other',
      }
      const served = await serve(store, { env })
      const [data] = redis.servers
      await until('the set is there', async () => (await data!.say('EXISTS', 'allowlist:vip')) === 1)
      const { engines } = (await (await fetch(`${served.url}/health`)).json()) as { engines: unknown[] }
      const [{ hotTier }] = engines as [{ hotTier: unknown }]
      assert.deepEqual(hotTier, { connected: true, lists: 2, answered: 0, passedOn: 0 })
      const ended = await served.stop()
      assert.equal(ended.code, 0, ended.stderr)
      assert.doesNotMatch(ended.stdout + ended.stderr, new RegExp(PASSWORD))
    } finally {
      directory.remove()
      await redis.stop()
    }
  })

  it('says what is missing', async () => {
    const env = { ...CREDENTIALS_ENV, CATRACA_DYNAMODB_HOT_LISTS: 'vip' }
    const { code, stderr } = await catraca(['serve', '--port', '0', ...store], { env })
    assert.equal(code, 1)
    assert.match(stderr, /dynamodb\.hotLists needs dynamodb\.hotTier/)
  })
})
