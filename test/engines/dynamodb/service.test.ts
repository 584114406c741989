import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import {
  catraca,
  command,
  customers,
  type Running,
  type Served,
  scratch,
  serve as serveStore,
  start,
} from '../../cli/run.js'
import { send, until } from '../../server/support.js'
import { CREDENTIALS_ENV, startDynamo } from '../../support/dynamodb-server.js'

/** The product over DynamoDB as its users meet it: commands typed, servers and a relay started. */
const env = CREDENTIALS_ENV
const dynamo = await startDynamo()

const on = (store: string, ...args: string[]) => command([...args, '--store', store], { env })

/** Tables of one's own, made as an operator does. */
async function madeStore(): Promise<string> {
  const store = dynamo.url(dynamo.names())
  const made = await on(store, 'dynamodb', 'create', '--json')
  assert.equal(made.code, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout).tables.length, 4)
  return store
}

async function relayOf(store: string): Promise<Running> {
  const relay = start(['relay', '--store', store], { env })
  await relay.said(/relays the changes of dynamodb:/)
  return relay
}

async function stopRelay({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
}

const textBody = (ids: string[]) => ({
  headers: { 'content-type': 'text/plain' },
  body: `${ids.join('\n')}\n`,
})

describe('two servers and a relay over one table', () => {
  let pods: [Served, Served]
  let relay: Running
  before(async () => {
    const store = await madeStore()
    relay = await relayOf(store)
    const CATRACA_CACHE_SPACES = '[{ "name": "prices", "ttlMs": 60000 }]'
    const serve = () => serveStore(['--store', store], { env: { ...env, CATRACA_CACHE_SPACES } })
    pods = await Promise.all([serve(), serve()])
  })
  after(async () => {
    await Promise.all(pods.map((pod) => pod.stop()))
    await stopRelay(relay)
  })

  async function reason(pod: Served, customer: string, query = ''): Promise<string> {
    const { json } = await send(pod.url, 'GET', `/customers/${customer}/check?allowlists=vip${query}`)
    return json.results[0].reason
  }

  const becomes = (pod: Served, customer: string, expected: string) =>
    until(`${customer} becomes ${expected} by itself`, async () => (await reason(pod, customer)) === expected)

  /** Whether a stranger was refused without asking the table. */
  async function answersFromMemory(pod: Served): Promise<boolean> {
    const filtered = async () => (await send(pod.url, 'GET', '/health')).json.cache.checks.filtered
    const before = await filtered()
    await reason(pod, 'nobody')
    return (await filtered()) > before
  }

  /** One after the other: on a busy machine each may look at the table again for a moment. */
  const bothFollow = async () => {
    for (const pod of pods) await until('it answers from memory', () => answersFromMemory(pod))
  }

  it('answer alike: created and imported on one, asked on the other', async () => {
    const [one, two] = pods
    const list = { id: 'vip', name: 'VIP', type: 'FIXA' }
    assert.equal((await send(one.url, 'POST', '/allowlists', { body: list })).status, 201)
    assert.equal((await send(two.url, 'POST', '/allowlists', { body: list })).status, 409)
    const { json } = await send(one.url, 'POST', '/allowlists/vip/import', textBody(customers(120)))
    assert.deepEqual([json.added, json.customerCount], [120, 120])
    for (const id of customers(5)) assert.equal(await reason(two, id, `&atLeast=${json.token}`), 'MEMBER')
    assert.equal((await send(two.url, 'POST', '/allowlists/vip/rebuild')).status, 202)
    await bothFollow()
  })

  it('see the writes of each other: at once with a token, and by themselves', async () => {
    const [one, two] = pods
    for (let i = 0; i < 10; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one]
      const added = await send(writer.url, 'PUT', `/allowlists/vip/customers/new-${i}`, { body: {} })
      assert.deepEqual([added.status, added.json.customerCount], [201, 121])
      assert.equal(await reason(reader, `new-${i}`, `&atLeast=${added.json.token}`), 'MEMBER')
      const removed = await send(writer.url, 'DELETE', `/allowlists/vip/customers/new-${i}`)
      assert.equal(await reason(reader, `new-${i}`, `&atLeast=${removed.json.token}`), 'NOT_MEMBER')
    }
    await send(one.url, 'PUT', '/allowlists/vip/customers/followed', { body: {} })
    await becomes(two, 'followed', 'MEMBER')
    await send(two.url, 'DELETE', '/allowlists/vip/customers/followed')
    await becomes(one, 'followed', 'NOT_MEMBER')
  })

  it('switch together when the members are replaced', async () => {
    const [one, two] = pods
    const next = [...customers(110), 'fresh']
    const { json } = await send(one.url, 'POST', '/allowlists/vip/import?mode=replace', textBody(next))
    assert.deepEqual([json.added, json.removed, json.customerCount], [1, 10, 111])
    const [gone = ''] = customers(1, 115)
    assert.equal(await reason(two, 'fresh', `&atLeast=${json.token}`), 'MEMBER')
    assert.equal(await reason(two, gone, `&atLeast=${json.token}`), 'NOT_MEMBER')
    await becomes(two, 'fresh', 'MEMBER')
    await becomes(two, gone, 'NOT_MEMBER')
  })

  it('go on answering when a list is moved to other shards, and follow it there', async () => {
    const [one, two] = pods
    const moving = await send(one.url, 'POST', '/allowlists/vip/reshard', { body: { shards: 10 } })
    assert.equal(moving.status, 202, moving.text)
    await until('it has moved', async () => {
      for (const id of customers(3)) assert.equal(await reason(two, id), 'MEMBER')
      return (await send(two.url, 'GET', '/allowlists/vip/reshard')).json.shardCount === 10
    })
    assert.equal((await send(one.url, 'GET', '/allowlists/vip')).json.customerCount, 111)
    assert.equal((await send(two.url, 'POST', '/allowlists/vip/rebuild')).status, 202)
    await bothFollow()
    await send(two.url, 'PUT', '/allowlists/vip/customers/moved', { body: {} })
    await becomes(one, 'moved', 'MEMBER')
    const { json } = await send(one.url, 'GET', '/customers/moved/allowlists')
    assert.deepEqual(
      json.items.map(({ allowlistId }: { allowlistId: string }) => allowlistId),
      ['vip'],
    )
  })

  it('say in /health which tables they have, and how far behind the logs are', async () => {
    await bothFollow()
    const { json } = await send(pods[0].url, 'GET', '/health')
    assert.equal(json.status, 'healthy')
    const [engine] = json.engines
    assert.deepEqual([engine.name, engine.region, engine.adoption], ['dynamodb', 'us-east-1', 'complete'])
    assert.match(engine.tables.allowlists, /^Allowlists-/)
    assert.ok(engine.feedAgeMs >= 0 && engine.feedAgeMs < 10_000, `${engine.feedAgeMs}`)
  })

  it('forget a deleted list', async () => {
    const [one, two] = pods
    assert.equal((await send(two.url, 'DELETE', '/allowlists/vip')).status, 204)
    await becomes(one, 'moved', 'ALLOWLIST_NOT_FOUND')
  })

  it('have asked for nothing that nobody used, and follow what is used', async () => {
    const [one, two] = pods
    /** Calls of DynamoDB so far, by what they were for. */
    const calls = async (pod: Served, verb: string): Promise<number> => {
      const { text } = await send(pod.url, 'GET', '/metrics')
      const lines = [...text.matchAll(/^catraca_dynamodb_calls_total\{verb="([^"]+)".*\} (\d+)$/gm)]
      return lines.filter(([, of]) => of === verb).reduce((sum, [, , count]) => sum + Number(count), 0)
    }
    for (const pod of pods) {
      assert.ok((await calls(pod, 'keys')) > 1, 'time has passed')
      assert.equal(await calls(pod, 'tokens'), 0)
      assert.equal(await calls(pod, 'cache.watch'), 0)
      // Once at the start, for how far the clock is off.
      assert.ok((await calls(pod, 'limit.watch')) <= 1)
    }
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    await send(one.url, 'PUT', '/revoked-tokens/t1', { body: { expiresAt } })
    assert.deepEqual((await send(two.url, 'GET', '/revoked-tokens/t1')).json, { revoked: true })
    await send(one.url, 'PUT', '/cache/prices/a', { body: { value: 1 } })
    assert.equal((await send(two.url, 'GET', '/cache/prices/a')).json.value, 1)
    const limits = { rpm: { capacity: 9, refillAmount: 9, refillPeriodSeconds: 60 } }
    await send(one.url, 'PUT', '/config/system/api', { body: { limits } })
    const acquired = await send(two.url, 'POST', '/limits/acquire', {
      body: { entity: 'ann', resource: 'api' },
    })
    assert.equal(acquired.status, 200, acquired.text)
    for (const verb of ['tokens', 'cache.watch', 'limit.watch'])
      await until(`${verb} is followed`, async () => (await calls(two, verb)) > 3)
  })
})

describe('commands on DynamoDB', () => {
  const directory = scratch()
  after(() => directory.remove())

  it('import, reshard, export and check', async () => {
    const store = await madeStore()
    const type = (...args: string[]) => on(store, ...args)
    await type('allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA')
    const ids = customers(300)
    writeFileSync(directory.file('ids.txt'), `${ids.join('\n')}\n`)
    const rows = ['allowlist', 'import', 'vip', directory.file('ids.txt'), '--json', '--store', store]
    const imported = await catraca(rows, { env })
    assert.equal(JSON.parse(imported.stdout).added, 300, imported.stderr)
    const moved = await type('allowlist', 'reshard', 'vip', '--shards', '10', '--json')
    assert.deepEqual([JSON.parse(moved.stdout).shardCount, JSON.parse(moved.stdout).customerCount], [10, 300])
    const exported = await type('allowlist', 'export', 'vip', '--format', 'text')
    assert.deepEqual(exported.stdout.trim().split('\n').sort(), [...ids].sort())
    const checked = await type('check', ids[0]!, 'nobody', '--allowlists', 'vip', '--json')
    const { results } = JSON.parse(checked.stdout) as { results: { overallAllowed: boolean }[] }
    assert.deepEqual(
      results.map(({ overallAllowed }) => overallAllowed),
      [true, false],
    )
    const verified = await type('dynamodb', 'verify')
    assert.deepEqual([verified.code, verified.stdout], [0, 'the tables are as expected\n'], verified.stderr)
  })

  it('and servers that find no tables print the command that makes them', async () => {
    const store = dynamo.url(dynamo.names())
    for (const words of [['serve', '--port', '0'], ['allowlist', 'list'], ['relay']]) {
      const { code, stdout, stderr } = await on(store, ...words)
      assert.deepEqual([code, stdout], [1, ''], words.join(' '))
      assert.match(stderr, /catraca dynamodb create/, words.join(' '))
    }
    const { stderr } = await on(store, 'allowlist', 'list')
    const [, given = ''] = /--store '([^']+)'/.exec(stderr) ?? []
    assert.equal((await on(given, 'dynamodb', 'create')).code, 0)
    assert.equal((await on(store, 'allowlist', 'list')).code, 0)
  })
})
