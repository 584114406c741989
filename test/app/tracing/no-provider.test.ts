import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readTraceParent } from '../../../src/app/tracing.js'
import { bearer, oneConnection, serve, until } from '../../server/support.js'

/** No file of this test loads OpenTelemetry: as in a host that has none. */
describe('without a provider of traces', () => {
  it('nothing is loaded, made or changed', async (t) => {
    const server = await serve(t)
    const { key } = await server.catraca.keys.create({ name: 'pod', scopes: ['check', 'read'] })
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await until('the key is known', () => server.keyed)
    assert.equal(server.catraca.tracing.spans, undefined)
    const agent = oneConnection(t)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const path = '/customers/alice/check?allowlists=vip'
    const answers = [
      await server.call('GET', path, { agent, headers: { ...bearer(key), traceparent } }),
      await server.call('GET', '/allowlists/vip', { agent, headers: { ...bearer(key), traceparent } }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const registered = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))
    assert.equal(registered, undefined, 'the API was not even loaded')
  })
})

describe('the header traceparent', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const spanId = 'b7ad6b7169203331'

  it('names the trace, the span and whether it is sampled', () => {
    const parent = { traceId, spanId, isRemote: true }
    assert.deepEqual(readTraceParent(`00-${traceId}-${spanId}-01`), { ...parent, traceFlags: 1 })
    assert.deepEqual(readTraceParent(`00-${traceId}-${spanId}-00`), { ...parent, traceFlags: 0 })
    assert.deepEqual(readTraceParent(`01-${traceId}-${spanId}-03-more`), { ...parent, traceFlags: 1 })
  })

  it('is left alone when it is not as it must be', () => {
    const wrong = [
      undefined,
      '',
      [`00-${traceId}-${spanId}-01`],
      `ff-${traceId}-${spanId}-01`,
      `00-${traceId}-${spanId}-01-more`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}`,
    ]
    for (const header of wrong) assert.equal(readTraceParent(header), undefined, String(header))
  })
})
