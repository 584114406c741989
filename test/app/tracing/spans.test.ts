import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { bearer, oneConnection, serve, until } from '../../server/support.js'
import { openPatiently } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'
import { collectSpans } from './collector.js'

/** What a host that collects traces gets to see. */
const collected = collectSpans()
let redis: RedisServers
before(async () => {
  redis = await startSingle()
})
after(() => redis.stop())
beforeEach(() => collected.reset())

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const TRACEPARENT = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
const named = (name: string) => collected.spans().filter((span) => span.name === name)

async function one(name: string): Promise<ReadableSpan> {
  await until(`a span ${name}`, () => named(name).length > 0)
  assert.equal(named(name).length, 1)
  return named(name)[0]!
}

/** The body comes when the headers have been read: by another event of the connection. */
async function postSlowly(url: string, path: string, body: object): Promise<void> {
  const headers = { ...TRACEPARENT, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  const outgoing = request(new URL(path, url), { method: 'POST', headers, agent: false })
  outgoing.flushHeaders()
  await sleep(50)
  outgoing.end(JSON.stringify(body))
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 201)
  response.resume()
}

describe('spans of requests', () => {
  it('continue the trace of the client, and hold those of the engine', async (t) => {
    await redis.flush()
    const server = await serve(t, {}, { store: redis.storeUrl, sweepIntervalMs: 0 })
    await postSlowly(server.url, '/allowlists', { id: 'vip', name: 'VIP', type: 'FIXA' })
    const served = await one('POST /allowlists')
    assert.deepEqual(
      [served.spanContext().traceId, served.parentSpanContext?.spanId, served.kind],
      [TRACE_ID, PARENT_ID, SpanKind.SERVER],
    )
    assert.deepEqual(served.attributes, {
      'http.request.method': 'POST',
      'http.route': '/allowlists',
      'http.response.status_code': 201,
    })
    const call = await one('catraca.allowlists.lists.create')
    assert.deepEqual(
      [call.spanContext().traceId, call.parentSpanContext?.spanId, call.kind],
      [TRACE_ID, served.spanContext().spanId, SpanKind.CLIENT],
    )
    assert.deepEqual(call.attributes, {
      'catraca.engine': 'redis',
      'catraca.capability': 'allowlists',
      'catraca.verb': 'lists.create',
      'catraca.outcome': 'ok',
    })
  })

  it('begin a trace where the client has none, or a header that is none', async (t) => {
    const server = await serve(t)
    await server.call('GET', '/live')
    await server.call('GET', '/live', { headers: { traceparent: `00-${'0'.repeat(32)}-${PARENT_ID}-01` } })
    await until('both', () => named('GET /live').length === 2)
    for (const span of named('GET /live')) assert.equal(span.parentSpanContext, undefined)
  })

  it('tell of refusals and failures by their status, and of nobody', async (t) => {
    const server = await serve(t, {}, { store: redis.storeUrl, redis: { commandTimeoutMs: 200 } })
    await server.call('GET', '/no/such/path-of-alice')
    assert.equal((await one('GET none')).attributes['http.response.status_code'], 404)
    redis.servers[0]!.pause()
    try {
      const path = '/allowlists/vip/customers/alice'
      assert.equal((await server.call('PUT', path, { body: {}, headers: TRACEPARENT })).status, 503)
    } finally {
      redis.servers[0]!.resume()
    }
    const call = await one('catraca.allowlists.lists.get')
    assert.equal(call.status.code, SpanStatusCode.ERROR)
    assert.match(String(call.attributes['catraca.outcome']), /timeout|unavailable/)
    const told = collected
      .spans()
      .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }))
    assert.doesNotMatch(JSON.stringify(told), /alice/)
  })

  it('are made of plain checks that are part of a trace, which the doors pass on', async (t) => {
    const server = await serve(t)
    const { key: secret } = await server.catraca.keys.create({ name: 'pod', scopes: ['check'] })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await until('the key is known', () => server.keyed)
    const agent = oneConnection(t)
    const path = '/customers/alice/check?allowlists=vip'
    const plain = await server.call('GET', path, { agent, headers: bearer(secret) })
    const traced = await server.call('GET', path, { agent, headers: { ...bearer(secret), ...TRACEPARENT } })
    const again = await server.call('GET', path, { agent, headers: { ...bearer(secret), ...TRACEPARENT } })
    assert.deepEqual([plain.status, traced.status, again.status], [200, 200, 200])
    assert.equal(plain.json.results[0].reason, traced.json.results[0].reason)
    const name = 'GET /customers/:customerId/check'
    await until('both spans', () => named(name).length === 2)
    for (const span of named(name)) assert.equal(span.parentSpanContext?.spanId, PARENT_ID)
  })
})

describe('spans of a library', () => {
  it('are parts of what the caller does; the background makes none', async (t) => {
    const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    await catraca.upkeep()
    await catraca.limits.warmUp()
    assert.deepEqual(collected.spans(), [])
    await trace.getTracer('host').startActiveSpan('order', async (span) => {
      await catraca.limits.acquire({
        entity: 'alice',
        resource: 'orders',
        limits: { perMinute: { capacity: 10, refillPeriodSeconds: 60 } },
      })
      span.end()
    })
    const order = await one('order')
    const take = await one('catraca.limits.counters.take')
    assert.equal(take.parentSpanContext?.spanId, order.spanContext().spanId)
  })

  it('are not made where that is switched off', async (t) => {
    const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0, tracing: { enabled: false } })
    t.after(() => catraca.close())
    assert.equal(catraca.tracing.spans, undefined)
    await trace.getTracer('host').startActiveSpan('order', async (span) => {
      await catraca.keys.list()
      span.end()
    })
    assert.deepEqual(
      collected.spans().map(({ name }) => name),
      ['order'],
    )
  })
})
