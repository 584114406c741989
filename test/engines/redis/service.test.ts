import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createClient } from '@redis/client'
import { catraca, command, customers, type Served, scratch, serve } from '../../cli/run.js'
import { send, until } from '../../server/support.js'
import { makeCertificates, type RedisServers, startSingle } from '../../support/redis/index.js'

/** The product over Redis as its users meet it: commands typed, servers started, several of them. */
const PASSWORD = 'p4ss:w@rd/ção'
let redis: RedisServers
before(async () => {
  redis = await startSingle({ password: PASSWORD })
})
after(() => redis.stop())

const url = (): string => `redis://127.0.0.1:${redis.servers[0]!.port}/0`
const withPassword = { CATRACA_REDIS_PASSWORD: PASSWORD }
const onStore = (...args: string[]) => command([...args, '--store', redis.storeUrl])

async function reason(server: Served, customer: string, query = ''): Promise<string> {
  const { json, text } = await send(server.url, 'GET', `/customers/${customer}/check?allowlists=vip${query}`)
  assert.ok(json.results, text)
  return json.results[0].reason
}

describe('two servers over one Redis', () => {
  let pods: Served[]
  before(async () => {
    await redis.flush()
    pods = await Promise.all([
      serve(['--store', url()], { env: withPassword }),
      serve(['--store', redis.storeUrl]),
    ])
  })
  after(() => Promise.all(pods.map((pod) => pod.stop())))

  it('answer alike: created, imported, changed and deleted on one, asked on the other', async () => {
    const [one, two] = pods as [Served, Served]
    const list = { id: 'vip', name: 'VIP', type: 'FIXA' }
    assert.equal((await send(one.url, 'POST', '/allowlists', { body: list })).status, 201)
    assert.equal((await send(two.url, 'POST', '/allowlists', { body: list })).status, 409)
    const body = `customerId\n${customers(3000).join('\n')}\n`
    const csv = { headers: { 'content-type': 'text/csv' }, body }
    const { json } = await send(one.url, 'POST', '/allowlists/vip/import', csv)
    assert.deepEqual([json.added, json.customerCount], [3000, 3000])
    for (const id of customers(5)) assert.equal(await reason(two, id, `&atLeast=${json.token}`), 'MEMBER')
    await send(one.url, 'POST', '/allowlists/vip/rebuild')
    await until('both have the list in memory', async () => {
      await Promise.all(pods.map((pod) => reason(pod, 'nobody')))
      const states = pods.map((pod) => send(pod.url, 'GET', '/allowlists/vip/index'))
      return (await Promise.all(states)).every((state) => state.json.state === 'loaded')
    })
    for (let i = 0; i < 30; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one]
      const added = await send(writer.url, 'PUT', `/allowlists/vip/customers/new-${i}`, { body: {} })
      assert.deepEqual([added.status, added.json.customerCount], [201, 3001])
      assert.equal(await reason(reader, `new-${i}`, `&atLeast=${added.json.token}`), 'MEMBER')
      const removed = await send(writer.url, 'DELETE', `/allowlists/vip/customers/new-${i}`)
      assert.equal(await reason(reader, `new-${i}`, `&atLeast=${removed.json.token}`), 'NOT_MEMBER')
    }
    await send(one.url, 'PUT', '/allowlists/vip/customers/woken', { body: {} })
    await until('the other one hears of it by itself', async () => (await reason(two, 'woken')) === 'MEMBER')
    await send(two.url, 'DELETE', '/allowlists/vip')
    await until('it is gone everywhere', async () => (await reason(one, 'woken')) === 'ALLOWLIST_NOT_FOUND')
  })

  it('say in /health which servers they have, and nothing of the password', async () => {
    const { json, text } = await send(pods[0]!.url, 'GET', '/health')
    assert.equal(json.status, 'healthy')
    assert.equal(json.engines[0].name, 'redis')
    assert.match(text, new RegExp(String(redis.servers[0]!.port)))
    assert.ok(!text.includes('p4ss'), text)
  })

  it('reshard a list when a command asks one of them to', async () => {
    await onStore('allowlist', 'create', '--id', 'wide', '--name', 'Wide', '--type', 'FIXA')
    const reshard = ['allowlist', 'reshard', 'wide', '--shards', '3', '--json', '--url', pods[1]!.url]
    const moved = await command(reshard)
    assert.equal(JSON.parse(moved.stdout).shardCount, 3, moved.stderr)
    const { json } = await send(pods[1]!.url, 'GET', '/allowlists/wide/reshard')
    assert.deepEqual(json, { allowlistId: 'wide', shardCount: 3 })
  })
})

describe('commands on Redis', () => {
  beforeEach(() => redis.flush())
  const directory = scratch()
  after(() => directory.remove())

  it('import, reshard, export and check', async () => {
    await onStore('allowlist', 'create', '--id', 'vip', '--name', 'VIP', '--type', 'FIXA')
    const ids = customers(2000)
    writeFileSync(directory.file('ids.txt'), `${ids.join('\n')}\n`)
    // In a process of its own, which must end by itself when the connections are closed.
    const file = directory.file('ids.txt')
    const imported = await catraca(['allowlist', 'import', 'vip', file, '--json', '--store', redis.storeUrl])
    assert.equal(JSON.parse(imported.stdout).added, 2000, imported.stderr)
    const moved = await onStore('allowlist', 'reshard', 'vip', '--shards', '4', '--json')
    assert.deepEqual([JSON.parse(moved.stdout).shardCount, JSON.parse(moved.stdout).customerCount], [4, 2000])
    const exported = await onStore('allowlist', 'export', 'vip', '--format', 'text')
    assert.deepEqual(exported.stdout.trim().split('\n').sort(), [...ids].sort())
    const checked = await onStore('check', ids[0]!, 'nobody', '--allowlists', 'vip', '--json')
    const { results } = JSON.parse(checked.stdout) as { results: { overallAllowed: boolean }[] }
    assert.deepEqual(
      results.map(({ overallAllowed }) => overallAllowed),
      [true, false],
    )
    const none = await onStore('allowlist', 'reshard', 'vip', '--shards', '0')
    assert.equal(none.code, 2)
    assert.match(none.stderr, /shards must be a whole number/)
  })

  it('tell a wrong password from a right one, without repeating either', async () => {
    const wrong = await command(['allowlist', 'list', '--store', url()], {
      env: { CATRACA_REDIS_PASSWORD: 'wr0ng-secret' },
    })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /WRONGPASS/)
    assert.ok(!wrong.stderr.includes('wr0ng-secret'))
    writeFileSync(directory.file('password'), PASSWORD)
    const right = await command(['allowlist', 'list', '--json', '--store', url()], {
      env: { CATRACA_REDIS_PASSWORD_FILE: directory.file('password') },
    })
    assert.deepEqual(JSON.parse(right.stdout), { items: [] }, right.stderr)
  })

  it('go on with a new password, without a restart, and recover once it is told', async () => {
    const file = directory.file('rotated')
    writeFileSync(file, PASSWORD)
    const pod = await serve(['--store', url()], { env: { CATRACA_REDIS_PASSWORD_FILE: file } })
    const admin = createClient({ url: redis.storeUrl })
    await admin.connect()
    try {
      const healthy = async () => (await send(pod.url, 'GET', '/health')).status === 200
      assert.ok(await healthy())
      await admin.sendCommand(['CONFIG', 'SET', 'requirepass', 'the-next-one'])
      // What is connected stays connected; only now the old one is of no use.
      assert.ok(await healthy())
      await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
      await until('refused', async () => !(await healthy()))
      writeFileSync(file, 'the-next-one')
      await until('recovered', healthy)
    } finally {
      await admin.sendCommand(['CONFIG', 'SET', 'requirepass', PASSWORD])
      admin.destroy()
      await pod.stop()
    }
  })

  it('speak TLS, and believe only the authority that they are given', async () => {
    const tls = makeCertificates()
    const encrypted = await startSingle({ tls })
    try {
      const list = ['allowlist', 'list', '--json', '--store', encrypted.storeUrl]
      const blind = await command(list)
      assert.equal(blind.code, 1)
      assert.match(blind.stderr, /certificate/)
      const { stdout, stderr } = await command(list, { env: { CATRACA_REDIS_TLS_CA_FILE: tls.ca } })
      assert.deepEqual(JSON.parse(stdout), { items: [] }, stderr)
    } finally {
      await encrypted.stop()
      tls.remove()
    }
  })
})
