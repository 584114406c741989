import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Hono } from 'hono'
import { validator } from 'hono/validator'
import { allow, forwardedFor, idempotency, idempotencyContext, rateLimit } from '../../src/adapters/hono.js'
import { newName, openPlaces } from './frameworks.js'

// `frameworks.ts` serves Hono over HTTP, with the tests that all adapters pass. Here is what only Hono has.
const opened = openPlaces()
const LIMITS = { rpm: { capacity: 2, refillPeriodSeconds: 60 } }

const post = (key: string, body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'idempotency-key': key, 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

describe('the adapter for Hono', () => {
  it('asks its options about the context, with the variables of the app', async () => {
    const { catraca } = opened
    const app = new Hono<{ Variables: { user: string } }>()
    app.use(async (context, next) => {
      context.set('user', context.req.query('user') ?? 'nobody')
      await next()
    })
    app.use(rateLimit({ catraca, limits: LIMITS, resource: newName(), entity: (c) => c.get('user') }))
    app.get('/', (context) => context.text('passed'))
    const statuses: number[] = []
    for (const user of ['ann', 'ann', 'ann', 'bob']) {
      statuses.push((await app.request(`/?user=${user}`)).status)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200])
  })

  it('limits addresses that a trusted proxy wrote', async () => {
    const { catraca } = opened
    const app = new Hono()
    const clientAddress = forwardedFor({ proxies: 1 })
    app.use(rateLimit({ catraca, limits: LIMITS, resource: newName(), clientAddress }))
    app.get('/', (context) => context.text('passed'))
    const from = async (address: string) =>
      (await app.request('/', { headers: { 'x-forwarded-for': address } })).status
    const seen = [await from('1.1.1.1'), await from('1.1.1.1'), await from('9.9.9.9, 1.1.1.1')]
    assert.deepEqual([...seen, await from('1.1.1.1, 2.2.2.2')], [200, 200, 429, 200])
  })

  it('keeps headers and cookies of other middleware, each once', async () => {
    const { catraca } = opened
    const app = new Hono()
    app.use(async (context, next) => {
      await next()
      context.header('x-after', 'yes')
    })
    app.use(idempotency({ catraca, operation: newName() }))
    app.use(rateLimit({ catraca, limits: LIMITS, resource: newName(), entity: () => 'ann' }))
    let contextOfWork: unknown
    app.post('/', (context) => {
      contextOfWork = idempotencyContext(context)
      context.header('set-cookie', 'a=1', { append: true })
      context.header('set-cookie', 'b=2', { append: true })
      return context.json({ paid: true }, 201)
    })
    const first = await app.request('/', post('k1', { amount: 1 }))
    assert.equal(first.status, 201)
    assert.deepEqual(first.headers.getSetCookie(), ['a=1', 'b=2'])
    assert.deepEqual(
      [first.headers.get('x-after'), first.headers.get('ratelimit')],
      ['yes', '"rpm";r=1;t=30'],
    )
    assert.notEqual(contextOfWork, undefined)
    const again = await app.request('/', post('k1', { amount: 1 }))
    assert.deepEqual([again.status, await again.json()], [201, { paid: true }])
    assert.deepEqual(
      [again.headers.get('idempotency-replayed'), again.headers.get('x-after')],
      ['true', 'yes'],
    )
  })

  it('sends only the problem if the response cannot be recorded', async () => {
    const { catraca } = opened
    const operation = newName()
    const app = new Hono()
    app.use(idempotency({ catraca, operation, leaseMs: 1000 }))
    app.post('/', async (context) => {
      opened.clock.advance(60_000)
      await catraca.idempotency.delete({ operation, key: 'k1' })
      return context.text('paid', 201, { 'x-paid': 'yes', 'set-cookie': 'a=1' })
    })
    const answer = await app.request('/', post('k1', {}))
    assert.equal(answer.status, 409)
    assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/)
    assert.deepEqual([answer.headers.get('x-paid'), answer.headers.getSetCookie()], [null, []])
  })

  it('compares bodies that a validator has read before', async () => {
    const { catraca } = opened
    const app = new Hono()
    let runs = 0
    const json = validator('json', (value: { amount: number }) => value)
    app.post('/', json, idempotency({ catraca, operation: newName() }), (context) => {
      runs++
      return context.json(context.req.valid('json'))
    })
    const statuses: number[] = []
    for (const amount of [1, 1, 2]) statuses.push((await app.request('/', post('k1', { amount }))).status)
    assert.deepEqual([statuses, runs], [[200, 200, 422], 1])
  })

  it('refuses before the handler, and what it refused is not recorded', async () => {
    const { catraca } = opened
    const [list, operation] = [newName(), newName()]
    await catraca.allowlists.create({ id: list, name: 'Beta', type: 'FIXA' })
    const app = new Hono()
    app.use(idempotency({ catraca, operation }))
    const denial = () => ({ status: 404, body: { error: 'unknown' } })
    app.use(allow({ catraca, lists: [list], customer: (c) => c.req.header('x-customer'), denial }))
    app.post('/', (context) => context.text('passed'))
    const ask = () => app.request('/', post('k1', {}, { 'x-customer': 'ann' }))
    const refused = await ask()
    assert.deepEqual([refused.status, await refused.json()], [404, { error: 'unknown' }])
    await catraca.allowlists.add(list, 'ann')
    assert.equal((await ask()).status, 200)
  })

  it('refuses options that nobody knows', () => {
    const { catraca } = opened
    assert.throws(() => rateLimit({ catraca, resorce: 'a' } as never), /did you mean resource/)
    assert.throws(
      () => idempotency({ catraca, operation: 'a', maxRequestByte: 1 } as never),
      /maxRequestBytes/,
    )
    assert.throws(() => allow({ lists: ['a'], customer: () => 'a' } as never), /catraca is required/)
  })
})
