import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bootName } from '../../../src/engines/embedded/rate-limit/directory.js'
import { type Catraca, ManualClock, type OpenOptions } from '../../../src/index.js'
import { startServer } from '../../../src/server/index.js'
import { send } from '../../server/support.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { openPatiently } from '../../support/patient.js'
import { startSingle } from '../../support/redis/index.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** Written by `scripts/make-upgrade-fixtures.mjs` with the code of version 0.1.0. */
const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/0.1.0', import.meta.url))
const read = (name: string) => JSON.parse(readFileSync(join(FIXTURES, name), 'utf8'))

/** What only the writer knows. */
interface Known {
  now: number
  inWave: string[]
  leaseId: string
  claim: string
  lock: { token: string; fence: number }
  code: string
  key: string
}

interface Scene {
  known: Known
  options: OpenOptions
}

const SCENES: Record<string, () => Promise<Scene>> = {
  async embedded() {
    const directory = join(temporaryDirectory(), 'data')
    cpSync(join(FIXTURES, 'embedded'), directory, { recursive: true })
    // Counters and caches belong to one boot of the machine, which is this one then.
    for (const part of ['limits', 'cache'])
      renameSync(join(directory, part, 'boot-fixture'), join(directory, part, bootName()))
    return { known: read('embedded.json'), options: { store: `embedded:${directory}` } }
  },
  async Redis() {
    const redis = await startSingle()
    after(() => redis.stop())
    const { known, commands } = read('redis.json') as { known: Known; commands: string[][] }
    const [server] = redis.servers
    for (const command of commands) await server!.say(...command.map((arg) => Buffer.from(arg, 'base64')))
    const clocks = { limitClock: 'caller', idempotencyClock: 'caller' } as const
    return { known, options: { store: redis.storeUrl, redis: clocks } }
  },
  async DynamoDB() {
    const server = await startDynamo()
    const { names, client } = await makeTables(server)
    const text = readFileSync(join(FIXTURES, 'dynamodb.json'), 'utf8')
    const binary = (_: string, value: unknown) =>
      typeof value === 'object' && value !== null && 'base64' in value
        ? Buffer.from(value.base64 as string, 'base64')
        : value
    const { known, tables } = JSON.parse(text, binary)
    for (const [role, TableName] of Object.entries(names))
      for (const Item of tables[role]) await client.putItem('test', { TableName, Item })
    return {
      known,
      options: {
        store: server.url(names),
        dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
      },
    }
  },
}

async function open(t: TestContext, { known, options }: Scene): Promise<Catraca> {
  const catraca = await openPatiently({
    sweepIntervalMs: 0,
    codes: { pepper: 'pepper of the fixtures' },
    ...options,
    clock: new ManualClock(known.now + 1000),
  })
  t.after(() => catraca.close())
  return catraca
}

const UUID = '0a0b0c0d-0000-4000-8000-00000000000f'

for (const [engine, make] of Object.entries(SCENES)) {
  describe(`data that version 0.1.0 wrote, on the engine ${engine}`, () => {
    it('is read, and goes on', async (t) => {
      const scene = await make()
      const { known } = scene
      const catraca = await open(t, scene)
      await lists(catraca, known)
      await limits(catraca, known)
      await idempotency(catraca, known)
      await others(catraca, known)
      await access(t, catraca, known)
      await catraca.upkeep()
      await stillThere(catraca)
    })
  })
}

async function lists({ allowlists }: Catraca, { inWave }: Known): Promise<void> {
  const allowed = async (id: string, list: string) => (await allowlists.check(id, [list])).overallAllowed
  for (const id of ['ann', 'bob', 'guest', UUID.toUpperCase()])
    assert.equal(await allowed(id, 'vip'), true, id)
  for (const id of ['gone', 'nobody']) assert.equal(await allowed(id, 'vip'), false, id)
  for (const id of ['ann', 'bob']) assert.equal(await allowed(id, 'sure'), true, id)
  assert.equal(await allowed('nobody', 'sure'), false)
  const waved: string[] = []
  for (let i = 0; i < 20; i++) if (await allowed(`customer-${i}`, 'wave')) waved.push(`customer-${i}`)
  assert.deepEqual(waved, inWave)
  const { customerCount, precision } = await allowlists.get('vip')
  assert.deepEqual(
    [customerCount, precision, (await allowlists.get('sure')).precision],
    [4, 'exact', 'trusted'],
  )
  const { addedBy, metadata } = await allowlists.member('vip', 'guest')
  assert.deepEqual({ addedBy, metadata }, { addedBy: 'crm', metadata: { plan: 'gold' } })
  const { items } = await allowlists.listsOf('ann')
  assert.deepEqual(items.map(({ allowlistId }) => allowlistId).toSorted(), ['sure', 'vip'])
  const added = await allowlists.add('vip', 'new')
  const removed = await allowlists.remove('vip', 'bob')
  assert.deepEqual([added.customerCount, removed.customerCount], [5, 4])
  const since = async (id: string, atLeast: string) =>
    (await allowlists.check(id, ['vip'], { atLeast })).overallAllowed
  assert.deepEqual([await since('new', added.token), await since('bob', removed.token)], [true, false])
}

async function limits({ limits }: Catraca, { leaseId }: Known): Promise<void> {
  const remaining = async (entity: string) =>
    Object.entries((await limits.status(entity, 'api')).limits).map(([name, one]) => [name, one.remaining])
  const sorted = async (entity: string) => Object.fromEntries(await remaining(entity))
  assert.deepEqual(await sorted('ann'), { bucket: 6, sliding: 6, fixed: 6, slots: 6 })
  const ask = (cost: number) =>
    limits.acquire({ entity: 'ann', resource: 'api', consume: { bucket: cost, sliding: cost, fixed: cost } })
  assert.equal((await ask(7)).allowed, false, 'what was used up stays so')
  assert.equal((await ask(5)).allowed, true)
  assert.equal((await ask(2)).allowed, false)
  await limits.giveBack(leaseId)
  assert.equal((await ask(4)).allowed, true, 'a lease of before is given back')
  const big = await limits.resolveConfig('big', 'api')
  assert.equal(big.limits.bucket?.capacity, 99)
  assert.deepEqual(await limits.getEntity('child'), { parent: 'big', cascade: true })
}

async function idempotency({ idempotency }: Catraca, { claim }: Known): Promise<void> {
  const never = () => assert.fail('it was done before')
  const run = (key: string, payload: unknown) => idempotency.run({ operation: 'PAY', key, payload }, never)
  const done = await run('done', { amount: 1 })
  assert.deepEqual(done, { outcome: 'replayed', value: { receipt: 7 } })
  const other = await run('done', { amount: 3 })
  assert.deepEqual([other.outcome, 'reason' in other && other.reason], ['refused', 'other-request'])
  const large = (await run('large', {})) as { value: { large: string } }
  assert.equal(large.value.large.length, 20_000)
  const busy = await run('running', { amount: 2 })
  assert.deepEqual([busy.outcome, 'reason' in busy && busy.reason], ['refused', 'in-progress'])
  const again = await idempotency.run({ operation: 'PAY', key: 'failed' }, ({ attempt }) => attempt)
  assert.deepEqual([again.outcome, 'value' in again && again.value], ['executed', 2])
  await idempotency.complete({ operation: 'PAY', key: 'running' }, claim, { receipt: 8 })
  assert.deepEqual(await run('running', { amount: 2 }), { outcome: 'replayed', value: { receipt: 8 } })
}

async function others({ locks, codes, tokens, cache, audit }: Catraca, known: Known): Promise<void> {
  const { token, fence } = known.lock
  assert.equal((await locks.acquire('claim:abc', { ttlMs: 1000 })).acquired, false, 'it is held')
  assert.ok(await locks.extend('claim:abc', token, 60_000))
  assert.equal(await locks.release('claim:abc', token), true)
  const next = await locks.acquire('claim:abc', { ttlMs: 1000 })
  assert.ok(next.acquired && next.fence! > fence, 'fences grow')

  const address = { channel: 'email', address: 'Ann@example.com' } as const
  const wrong = known.code === '000000' ? '000001' : '000000'
  assert.equal((await codes.verify({ ...address, code: wrong })).valid, false)
  assert.equal((await codes.verify({ ...address, code: known.code })).valid, true)

  assert.equal(await tokens.isRevoked({ jti: 'token-1' }), true)
  assert.equal(await tokens.isRevoked({ jti: 'token-2' }), false)
  const issuedAt = new Date(known.now - 1000)
  assert.equal(await tokens.isRevoked({ jti: 'token-3', subject: 'ann', issuedAt }), true)
  assert.equal((await tokens.subject('ann')).revoked, true)
  await tokens.warmUp()
  assert.equal(tokens.peek({ jti: 'token-1' }), true, 'from memory too')

  const space = cache.space({ name: 'prices', ttlMs: 86_400_000 })
  assert.deepEqual(await space.get('apple'), { cents: 120 })
  const { items } = await audit.list({ limit: 100 })
  assert.ok(
    items.some(({ action }) => action.startsWith('allowlist')),
    'what was recorded is told',
  )
}

async function access(t: TestContext, catraca: Catraca, { key }: Known): Promise<void> {
  const server = await startServer(catraca, { host: '127.0.0.1', port: 0 })
  t.after(() => server.stop())
  const status = async (headers: Record<string, string>) =>
    (await send(server.url, 'GET', '/allowlists/vip', { headers })).status
  assert.equal(await status({ authorization: `Bearer ${key}` }), 200, 'a key of before is valid')
  assert.equal(await status({}), 401)
}

async function stillThere({ allowlists }: Catraca): Promise<void> {
  await allowlists.rebuild('vip')
  const { results } = await allowlists.check('ann', ['vip', 'sure'])
  assert.deepEqual(
    results.map(({ reason }) => reason),
    ['MEMBER', 'MEMBER'],
  )
}

describe('the fixtures of version 0.1.0', () => {
  it('are those of a store that was never opened by a later version', () => {
    assert.ok(existsSync(join(FIXTURES, 'embedded', 'data.mdb')))
    assert.ok(!existsSync(join(FIXTURES, 'embedded', 'v2')))
  })
})
