// Writes test/fixtures/0.1.0/ with the code of version 0.1.0, so that tests can show that its data is still read:
//   git worktree add --detach /tmp/old 688b8b2 && cd /tmp/old && npm install
//   node scripts/make-upgrade-fixtures.mjs /tmp/old        (in the present tree, after its build)
// Times are in 2090, so that nothing in the fixtures expires.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [, , given] = process.argv
if (given === undefined) {
  console.error('usage: node scripts/make-upgrade-fixtures.mjs DIRECTORY (of version 0.1.0, built)')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'test', 'fixtures', '0.1.0')
const older = pathToFileURL(join(resolve(given), 'dist', 'src', 'index.js')).href
const { openCatraca, ManualClock } = await import(older)
const support = (name) => import(pathToFileURL(join(root, 'dist', 'test', 'support', name)).href)

const NOW = Date.UTC(2090, 0, 1)
const HOUR_MS = 3_600_000
const LATER = new Date(NOW + HOUR_MS)
const COMMON = {
  sweepIntervalMs: 0,
  codes: { pepper: 'pepper of the fixtures' },
  limits: { usageFlushMs: 100 },
}

/** Writes some data with every guard. Returns what only the writer knows: tokens, codes, keys. */
async function write(catraca) {
  const { allowlists, limits, idempotency, locks, codes, tokens, cache, keys } = catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  for (const id of ['ann', 'bob', 'gone', '0A0B0C0D-0000-4000-8000-00000000000F'])
    await allowlists.add('vip', id)
  await allowlists.add('vip', 'guest', {
    addedBy: 'crm',
    metadata: { plan: 'gold' },
    expiresAt: LATER.toISOString(),
  })
  await allowlists.remove('vip', 'gone')
  await allowlists.create({ id: 'sure', name: 'Trusted', type: 'FIXA', precision: 'trusted' })
  await allowlists.import(
    'sure',
    (async function* () {
      yield Buffer.from('ann\nbob\n')
    })(),
    { format: 'text' },
  )
  for (const id of ['vip', 'sure']) await allowlists.rebuild(id)
  await allowlists.create({
    ...{ id: 'wave', name: 'Wave', type: 'ONDA' },
    config: { strategy: 'PERCENTAGE', percentage: 0.3, exclude: ['vip'] },
  })
  const customers = Array.from({ length: 20 }, (_, i) => `customer-${i}`)
  const inWave = []
  for (const id of customers) if ((await allowlists.check(id, ['wave'])).overallAllowed) inWave.push(id)

  const period = { refillPeriodSeconds: 86_400 }
  await limits.setConfig(
    { level: 'system', resource: 'api' },
    {
      limits: {
        bucket: { capacity: 10, refillAmount: 1, ...period },
        sliding: { capacity: 10, refillAmount: 10, algorithm: 'sliding-window', ...period },
        fixed: { capacity: 10, refillAmount: 10, algorithm: 'fixed-window', ...period },
        slots: { capacity: 10, refillAmount: 10, algorithm: 'concurrency', ...period },
      },
    },
  )
  await limits.setConfig(
    { level: 'entity', identifier: 'big', resource: 'api' },
    { limits: { bucket: { capacity: 99 } } },
  )
  await limits.setEntity('child', { parent: 'big', cascade: true })
  const consume = { bucket: 4, sliding: 4, fixed: 4, slots: 4 }
  const taken = await limits.acquire({ entity: 'ann', resource: 'api', consume })
  if (!taken.allowed) throw new Error('the first acquire was denied')

  await idempotency.run({ operation: 'PAY', key: 'done', payload: { amount: 1 } }, () => ({ receipt: 7 }))
  const large = 'x'.repeat(20_000)
  await idempotency.run({ operation: 'PAY', key: 'large', payload: {} }, () => ({ large }))
  await idempotency
    .run({ operation: 'PAY', key: 'failed' }, () => Promise.reject(new Error('no')))
    .catch(() => {})
  const begun = await idempotency.begin({
    operation: 'PAY',
    key: 'running',
    leaseMs: HOUR_MS,
    payload: { amount: 2 },
  })

  const lock = await locks.acquire('claim:abc', { ttlMs: HOUR_MS })
  const { code } = await codes.issue({ channel: 'email', address: 'ann@example.com' })
  await tokens.revoke({ jti: 'token-1', expiresAt: LATER })
  await tokens.revokeSubject({ subject: 'ann', notBefore: new Date(NOW), expiresAt: LATER })
  const space = cache.space({ name: 'prices', ttlMs: 24 * HOUR_MS })
  await space.set('apple', { cents: 120 })
  const { key } = await keys.create({ name: 'reader', scopes: ['read', 'check'] })
  // Usage is written in the background.
  await new Promise((done) => setTimeout(done, 500))
  return {
    now: NOW,
    inWave,
    leaseId: taken.leaseId,
    claim: begun.token,
    lock: { token: lock.token, fence: lock.fence },
    code,
    key,
  }
}

async function written(options) {
  const catraca = await openCatraca({ ...COMMON, ...options, clock: new ManualClock(NOW) })
  const known = await write(catraca)
  await catraca.close()
  return known
}

const save = (name, value) => writeFileSync(join(target, name), `${JSON.stringify(value, null, 1)}\n`)
const base64 = (value) => Buffer.from(value).toString('base64')

async function embedded() {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-fixture-'))
  const known = await written({ store: `embedded:${directory}` })
  const isData = (path) => !path.endsWith('lock.mdb')
  cpSync(directory, join(target, 'embedded'), { recursive: true, filter: isData })
  // Named by the boot id of the machine; the tests rename it to theirs.
  for (const part of ['limits', 'cache']) {
    const parent = join(target, 'embedded', part)
    renameSync(join(parent, readdirSync(parent)[0]), join(parent, 'boot-fixture'))
  }
  rmSync(directory, { recursive: true })
  save('embedded.json', known)
}

/** As commands, which every version of Redis accepts; older versions cannot read a dump. */
async function redis() {
  const { startSingle } = await support('redis/index.js')
  const { storeUrl, stop } = await startSingle()
  const clocks = { limitClock: 'caller', idempotencyClock: 'caller' }
  const known = await written({ store: storeUrl, redis: clocks })
  const { createClient, RESP_TYPES } = await import('@redis/client')
  const client = await createClient({ url: storeUrl, RESP: 2 }).connect()
  const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer }
  const call = (...args) => client.sendCommand(args, { typeMapping })
  const commands = []
  for (const key of (await call('KEYS', '*')).map(String).sort()) {
    const type = String(await call('TYPE', key))
    commands.push(...(await commandsOf(call, key, type)))
    const ttl = Number(await call('PTTL', key))
    if (ttl > 0) commands.push(['PEXPIRE', key, String(ttl)])
  }
  await client.close()
  await stop()
  save('redis.json', { known, commands: commands.map((args) => args.map((arg) => base64(arg))) })
}

async function commandsOf(call, key, type) {
  if (type === 'string') return [['SET', key, await call('GET', key)]]
  if (type === 'set') return [['SADD', key, ...(await call('SMEMBERS', key))]]
  if (type === 'list') return [['RPUSH', key, ...(await call('LRANGE', key, '0', '-1'))]]
  if (type === 'hash') return [['HSET', key, ...(await call('HGETALL', key))]]
  if (type === 'zset') {
    const found = await call('ZRANGE', key, '0', '-1', 'WITHSCORES')
    const flat = found.flat()
    return [
      [
        'ZADD',
        key,
        ...Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i + 1], flat[2 * i]]).flat(),
      ],
    ]
  }
  if (type === 'stream') {
    const entries = await call('XRANGE', key, '-', '+')
    return entries.map(([id, fields]) => ['XADD', key, id, ...fields])
  }
  throw new Error(`${key} is a ${type}`)
}

async function dynamodb() {
  const { startDynamo, CREDENTIALS } = await support('dynamodb-server.js')
  const { makeTables } = await support('dynamodb-engine.js')
  const server = await startDynamo()
  const { names, client } = await makeTables(server)
  const known = await written({
    store: server.url(names),
    dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0 },
  })
  const tables = {}
  for (const [role, TableName] of Object.entries(names)) {
    const { items } = await client.scan('fixture', { TableName })
    tables[role] = items
  }
  const binary = (_, value) =>
    value?.type === 'Buffer' || value instanceof Uint8Array ? { base64: base64(value.data ?? value) } : value
  writeFileSync(join(target, 'dynamodb.json'), `${JSON.stringify({ known, tables }, binary, 1)}\n`)
}

test('fixtures of version 0.1.0', async () => {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  await embedded()
  await redis()
  await dynamodb()
  const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const bytes = files.reduce(
    (sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size,
    0,
  )
  console.log(`${files.length} files, ${bytes} bytes`)
})
