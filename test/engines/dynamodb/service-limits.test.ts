import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { command, type Served, serve } from '../../cli/run.js'
import { send, until } from '../../server/support.js'
import { CREDENTIALS_ENV, startDynamo } from '../../support/dynamodb-server.js'

/** Rate limits over DynamoDB as their users meet them: two servers on one table, and commands. */
const env = CREDENTIALS_ENV
const dynamo = await startDynamo()
const store = dynamo.url(dynamo.names())
const on = (...args: string[]) => command([...args, '--store', store], { env })

describe('rate limits over DynamoDB', () => {
  let pods: [Served, Served]
  before(async () => {
    const made = await on('dynamodb', 'create')
    assert.equal(made.code, 0, made.stderr)
    pods = await Promise.all([serve(['--store', store], { env }), serve(['--store', store], { env })])
  })
  after(() => Promise.all(pods.map((pod) => pod.stop())))

  const acquire = (pod: Served, body: object) => send(pod.url, 'POST', '/limits/acquire', { body })
  const configure = (path: string, body: object) => send(pods[0].url, 'PUT', path, { body })

  it('hold over both servers, and are given back', async () => {
    const rpm = { capacity: 10, refillPeriodSeconds: 3600 }
    assert.ok((await configure('/config/system/chat', { limits: { rpm } })).status < 300)
    const asked = { entity: 'ana', resource: 'chat', consume: { rpm: 3 } }
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await acquire(pods[i % 2]!, asked))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    )
    assert.equal(answers[2]!.json.limits.rpm.remaining, 1)
    assert.equal(answers[3]!.json.code, 'QUOTA_EXCEEDED')
    const { leaseId } = answers[0]!.json
    for (const pod of pods) assert.ok((await send(pod.url, 'DELETE', `/leases/${leaseId}`)).status < 300)
    await until('the other server admits again', async () => (await acquire(pods[1]!, asked)).status === 200)
    const { json } = await send(pods[0]!.url, 'GET', '/limits/ana/chat')
    assert.equal(json.limits.rpm.remaining, 1)
  })

  it('follow a change of configuration made by a command, and a reset', async () => {
    const limits = JSON.stringify({ rpm: { capacity: 1, refillPeriodSeconds: 3600 } })
    const level = ['--level', 'entity', '--identifier', 'bob', '--resource', 'chat']
    assert.equal((await acquire(pods[0], { entity: 'bob', resource: 'chat' })).json.limits.rpm.limit, 10)
    assert.equal((await on('config', 'set', ...level, '--limits', limits)).code, 0)
    await until('both know', async () => {
      const found = await Promise.all(
        pods.map(({ url }) => send(url, 'GET', '/config/resolve?entity=bob&resource=chat')),
      )
      return found.every(({ json }) => json.limits.rpm.capacity === 1)
    })
    assert.equal((await acquire(pods[1], { entity: 'bob', resource: 'chat' })).status, 429)
    assert.equal((await on('limits', 'reset', '--entity', 'bob', '--resource', 'chat')).code, 0)
    await until(
      'it may pass',
      async () => (await acquire(pods[1], { entity: 'bob', resource: 'chat' })).status === 200,
    )
  })

  it('take of a parent too, and tell what was used', async () => {
    await configure('/config/entities/team/chat', { limits: { rpm: { capacity: 2 } } })
    await configure('/entities/cleo', { parent: 'team', cascade: true })
    const asked = { entity: 'cleo', resource: 'chat' }
    await until('the parent is known', async () => (await acquire(pods[1], asked)).json.parent !== undefined)
    await until('the parent has nothing left', async () => (await acquire(pods[0], asked)).status === 429)
    // Servers write down every few seconds what they have counted.
    await until('usage is told', async () => {
      const usage = await on('limits', 'usage', '--entity', 'team', '--resource', 'chat', '--json')
      assert.equal(usage.code, 0, usage.stderr)
      const [hour] = JSON.parse(usage.stdout).items
      return hour?.admitted === 2 && hour.denied > 0
    })
  })
})
