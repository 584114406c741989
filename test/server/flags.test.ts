import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { encodeIdentifier } from '../../src/index.js'
import { inTime } from '../support/in-time.js'
import { PATIENCE_MS } from '../support/patient.js'
import { bearer, knownKey, openServer, serve, serveAll, type TestServer, until } from './support.js'

const wave = (percentage: number, more: object = {}) => ({
  strategy: 'PERCENTAGE' as const,
  percentage,
  ...more,
})

async function fill({ catraca: { allowlists } }: TestServer): Promise<void> {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'ana')
  await allowlists.add('vip', encodeIdentifier('auth0|7'))
  await allowlists.create({ id: 'half', name: 'Half', type: 'ONDA', config: wave(0.5) })
  await allowlists.create({ id: 'stopped', name: 'Stopped', type: 'ONDA', config: wave(1) })
  await allowlists.pause('stopped')
  const past = { strategy: 'TIME_WINDOW' as const, endTime: 1000 }
  await allowlists.create({ id: 'over', name: 'Over', type: 'ONDA', config: past })
  const named = { strategy: 'EXPLICIT_LIST' as const, customerIds: ['bob'] }
  await allowlists.create({ id: 'named', name: 'Named', type: 'ONDA', config: named })
  const since = { strategy: 'TIME_WINDOW' as const, startTime: 1000 }
  await allowlists.create({ id: 'open', name: 'Open', type: 'ONDA', config: since })
  const but = { ...since, exclude: ['vip'] }
  await allowlists.create({ id: 'others', name: 'Others', type: 'ONDA', config: but })
}

const ROUTE = '/ofrep/v1/evaluate/flags'
const shared = serveAll(fill)

function evaluate(server: TestServer, key: string, context: unknown, headers = {}) {
  return server.call('POST', `${ROUTE}/${key}`, { body: { context }, headers })
}

describe('POST /ofrep/v1/evaluate/flags/{key}', () => {
  it('gives value, variant and reason of lists and waves', async () => {
    const cases: [key: string, customer: string, value: boolean, reason: string, checkReason: string][] = [
      ['vip', 'ana', true, 'TARGETING_MATCH', 'MEMBER'],
      ['vip', 'bob', false, 'TARGETING_MATCH', 'NOT_MEMBER'],
      ['vip', 'auth0|7', true, 'TARGETING_MATCH', 'MEMBER'],
      ['stopped', 'ana', false, 'DISABLED', 'OUT_OF_WAVE'],
      ['over', 'ana', false, 'STATIC', 'OUTSIDE_WINDOW'],
      ['named', 'bob', true, 'TARGETING_MATCH', 'IN_WAVE'],
      ['named', 'ana', false, 'TARGETING_MATCH', 'OUT_OF_WAVE'],
      ['open', 'ana', true, 'STATIC', 'IN_WAVE'],
      ['others', 'ana', false, 'TARGETING_MATCH', 'EXCLUDED'],
      ['others', 'bob', true, 'TARGETING_MATCH', 'IN_WAVE'],
    ]
    for (const [key, targetingKey, value, reason, checkReason] of cases) {
      const { status, headers, json } = await evaluate(shared(), key, { targetingKey })
      assert.equal(status, 200)
      assert.match(headers['content-type']!, /^application\/json/)
      const { metadata, ...flag } = json
      assert.deepEqual(flag, { key, value, variant: value ? 'on' : 'off', reason }, `${key} ${targetingKey}`)
      assert.equal(metadata.checkReason, checkReason)
      assert.equal(metadata.type, key === 'vip' ? 'FIXA' : 'ONDA')
    }
  })

  it('agrees with check and explain for every customer', async () => {
    const { catraca } = shared()
    for (const key of ['vip', 'half', 'others']) {
      for (let i = 0; i < 60; i++) {
        const customer = ['ana', 'bob'][i] ?? `customer-${i}`
        const { json } = await evaluate(shared(), key, { targetingKey: customer })
        const { results } = await catraca.allowlists.check(customer, [key])
        const explained = await catraca.allowlists.explain(customer, [key])
        assert.equal(json.value, results[0]!.allowed)
        assert.equal(json.metadata.checkReason, results[0]!.reason)
        assert.equal(explained.results[0]!.allowed, json.value)
        if (key === 'half') assert.equal(json.reason, 'SPLIT')
      }
    }
  })

  it('names the version of the list, and gives a token that a later evaluation may bring', async (t) => {
    const server = await serve(t)
    await fill(server)
    const { allowlists } = server.catraca
    await allowlists.rebuild('vip')
    await allowlists.update('vip', { name: 'Very important' })
    const seen = await untilRight(
      () => evaluate(server, 'vip', { targetingKey: 'ana' }),
      ({ json }) => Boolean(json.metadata.catracaAtLeast),
    )
    assert.equal(seen.json.metadata.listVersion, 2)
    const { catracaAtLeast } = seen.json.metadata
    const again = await evaluate(server, 'vip', { targetingKey: 'ana', catracaAtLeast })
    assert.equal(again.json.value, true)
    const { token } = await allowlists.remove('vip', 'ana')
    const after = await evaluate(server, 'vip', { targetingKey: 'ana', catracaAtLeast: token })
    assert.equal(after.json.value, false)
    // The token of an answer is as good as that of a write.
    await allowlists.check('ana', ['vip'], { atLeast: after.json.metadata.catracaAtLeast })
  })

  it('says what is wrong with a context, in the words of the protocol', async () => {
    const cases: [context: unknown, errorCode: string, details: RegExp][] = [
      [undefined, 'TARGETING_KEY_MISSING', /targetingKey/],
      [null, 'TARGETING_KEY_MISSING', /targetingKey/],
      [{}, 'TARGETING_KEY_MISSING', /targetingKey/],
      [{ targetingKey: '' }, 'TARGETING_KEY_MISSING', /targetingKey/],
      [{ targetingKey: 7 }, 'INVALID_CONTEXT', /targetingKey/],
      [{ targetingKey: ['ana'] }, 'INVALID_CONTEXT', /targetingKey/],
      [{ targetingKey: 'x'.repeat(257) }, 'INVALID_CONTEXT', /256/],
      ['ana', 'INVALID_CONTEXT', /object/],
      [['ana'], 'INVALID_CONTEXT', /object/],
      [{ targetingKey: 'ana', catracaAtLeast: 7 }, 'INVALID_CONTEXT', /catracaAtLeast/],
      [{ targetingKey: 'ana', catracaAtLeast: 'e.other.1.1' }, 'INVALID_CONTEXT', /^catracaAtLeast/],
    ]
    for (const [context, errorCode, details] of cases) {
      const { status, json } = await evaluate(shared(), 'vip', context)
      assert.equal(status, 400, JSON.stringify(context))
      assert.equal(json.key, 'vip')
      assert.equal(json.errorCode, errorCode)
      assert.match(json.errorDetails, details)
    }
    for (const body of ['{"context":', '[]', '7']) {
      const headers = { 'content-type': 'application/json' }
      const { status, json } = await shared().call('POST', `${ROUTE}/vip`, { body, headers })
      assert.equal(status, 400)
      assert.equal(json.errorCode, 'PARSE_ERROR')
    }
  })

  it('ignores all else in context and body', async () => {
    const body = `{"context":{"targetingKey":"ana","id":12345678901234567890,"deep":[{"a":1}]},"more":true}`
    const headers = { 'content-type': 'application/json' }
    const { status, json } = await shared().call('POST', `${ROUTE}/vip`, {
      body,
      headers,
    })
    assert.equal(status, 200)
    assert.equal(json.value, true)
    const megabyte = { targetingKey: 'ana', text: 'x'.repeat(1024 * 1024) }
    assert.equal((await evaluate(shared(), 'vip', megabyte)).status, 413)
  })

  it('does not find lists that are not there, however the key is written', async () => {
    for (const [path, key] of [
      ['none', 'none'],
      ['a/b', 'a/b'],
      ['a%2Fb', 'a/b'],
      ['a%20b', 'a b'],
      ['..%2Fvip', '../vip'],
      ['50%off', '50%off'],
      ['%zz', '%zz'],
      ['x'.repeat(400), 'x'.repeat(400)],
    ]) {
      const { status, json } = await evaluate(shared(), path!, { targetingKey: 'ana' })
      assert.equal(status, 404, path)
      assert.equal(json.key, key)
      assert.equal(json.errorCode, 'FLAG_NOT_FOUND')
    }
  })

  it('evaluates no other flag where a key that was not encoded has a question mark', async () => {
    const { status, json } = await evaluate(shared(), 'vip?x', { targetingKey: 'ana' })
    assert.equal(status, 400)
    assert.equal(json.errorCode, 'PARSE_ERROR')
  })

  it('does not take limits that nobody configured for a flag that does not exist', async (t) => {
    const server = await serve(t, { flags: { limitedBy: 'nothing' } })
    await fill(server)
    const { status, json } = await evaluate(server, 'vip', { targetingKey: 'ana' })
    assert.equal(status, 500)
    assert.equal(json.errorCode, 'GENERAL')
    assert.match(json.errorDetails, /nothing/)
  })

  it('needs the scope check, and takes from the limits that the settings name', async (t) => {
    const server = await serve(t, { flags: { limitedBy: 'flags' } })
    await fill(server)
    const { limits } = server.catraca
    const rule = { rpm: { capacity: 2, refillAmount: 1, refillPeriodSeconds: 3600 } }
    await limits.setConfig({ level: 'system', resource: 'flags' }, { limits: rule })
    const checks = await knownKey(server, 'checks', ['check'])
    const others = await knownKey(server, 'others', ['locks'])
    const ask = (key: string) => evaluate(server, 'vip', { targetingKey: 'ana' }, bearer(key))
    assert.equal((await ask('wrong')).status, 401)
    assert.equal((await ask(others.key)).status, 403)
    assert.equal((await ask(checks.key)).status, 200)
    const bulk = await server.call('POST', ROUTE, {
      body: { context: { targetingKey: 'ana' } },
      headers: bearer(checks.key),
    })
    assert.equal(bulk.status, 200)
    const denied = await ask(checks.key)
    assert.equal(denied.status, 429)
    assert.match(denied.headers['retry-after']!, /^[1-9]\d*$/)
  })
})

describe('a concurrency limit of flags', () => {
  it('is free again when a flag was evaluated, or could not be', async (t) => {
    const server = await serve(t, { flags: { limitedBy: 'flags', exposed: ['vip'] } })
    await fill(server)
    const slots = {
      atOnce: { capacity: 1, refillPeriodSeconds: 3600, algorithm: 'concurrency' as const },
    }
    await server.catraca.limits.setConfig({ level: 'system', resource: 'flags' }, { limits: slots })
    const all = (context: unknown) => server.call('POST', ROUTE, { body: { context } })
    for (const [call, status] of [
      [() => evaluate(server, 'vip', { targetingKey: 'ana' }), 200],
      [() => evaluate(server, 'none', { targetingKey: 'ana' }), 404],
      [() => evaluate(server, 'vip', {}), 400],
      [() => all({ targetingKey: 'ana' }), 200],
      [() => all({}), 400],
    ] as const) {
      assert.equal((await untilRight(call, (answer) => answer.status !== 429)).status, status)
    }
  })
})

/** Calls again until the answer is right: memory is filled in the background. */
async function untilRight<T>(call: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
  let answer!: T
  await until('the answer is right', async () => isRight((answer = await call())))
  return answer
}

describe('POST /ofrep/v1/evaluate/flags', () => {
  const exposed = { exposed: ['vip', 'o*', 'none'] }

  const serveWith = (flags: object) => openServer({ flags }, {})

  const bulk = (server: TestServer, context: unknown, headers = {}) =>
    server.call('POST', ROUTE, { body: { context }, headers })

  it('evaluates the lists that the settings expose', async (t) => {
    const server = await serve(t, { flags: exposed })
    await fill(server)
    const { status, json } = await bulk(server, { targetingKey: 'ana' })
    assert.equal(status, 200)
    const facts = json.flags.map(({ key, value, errorCode }: Record<string, unknown>) => [
      key,
      value ?? errorCode,
    ])
    assert.deepEqual(facts, [
      ['vip', true],
      ['none', 'FLAG_NOT_FOUND'],
      ['open', true],
      ['others', false],
      ['over', false],
    ])
    assert.deepEqual(json.eventStreams, [
      { type: 'sse', endpoint: { requestUri: '/ofrep/v1/events?targetingKey=ana' }, inactivityDelaySec: 120 },
    ])
    assert.equal((await bulk(server, {})).json.errorCode, 'TARGETING_KEY_MISSING')
    assert.equal((await bulk(shared(), { targetingKey: 'ana' })).json.flags.length, 0)
    // Providers put what an event said into the query; a later one may say more.
    const body = { context: { targetingKey: 'ana' } }
    const later = await server.call('POST', `${ROUTE}?flagConfigEtag=x&more=1`, { body })
    assert.equal(later.status, 200)
  })

  it('refuses more lists than it evaluates, and ids that no list has, when the server starts', async () => {
    const exposed = Array.from({ length: 10_000 }, (_, i) => `list-${i}`)
    const tooMany = serveWith({ exposed })
    await assert.rejects(tooMany, { code: 'INVALID_INPUT', message: /flags\.exposed .* 1000 entries/ })
    await assert.rejects(serveWith({ exposed: ['a/b'] }), {
      code: 'INVALID_INPUT',
      message: /flags\.exposed/,
    })
  })

  it('of many lists that a prefix names takes turns with other calls', async (t) => {
    const server = await serve(t, { flags: { exposed: ['o*'] } })
    const { flags } = server.catraca.allowlists
    const ids = Array.from({ length: 600 }, (_, i) => `o${i}`)
    t.mock.method(flags, 'idsWith', async () => ids)
    let turn = 0
    const count = () => {
      turn++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    t.after(() => clearImmediate(next))
    const begun: number[] = []
    t.mock.method(flags, 'evaluateAll', async () => {
      begun.push(turn)
      return []
    })
    const answers = await Promise.all(Array.from({ length: 8 }, () => bulk(server, { targetingKey: 'ana' })))
    for (const { status } of answers) assert.equal(status, 200)
    const gaps = begun.slice(1).map((at, i) => at - begun[i]!)
    assert.ok(Math.min(...gaps) >= 10, `turns of others: ${gaps}`)
  })

  it('answers 304 to the same context and the same flags alone', async (t) => {
    const server = await serve(t, { flags: exposed })
    await fill(server)
    const first = await bulk(server, { targetingKey: 'ana', plan: 'a' })
    const etag = first.headers.etag!
    const again = (context: object, given = etag) => bulk(server, context, { 'if-none-match': given })
    const same = await again({ targetingKey: 'ana', plan: 'a' })
    assert.equal(same.status, 304)
    assert.equal(same.text, '')
    assert.equal((await again({ targetingKey: 'ana', plan: 'a' }, `"x", W/${etag}`)).status, 304)
    assert.equal((await again({ targetingKey: 'ana', plan: 'b' })).status, 200)
    assert.equal((await again({ targetingKey: 'bob', plan: 'a' })).status, 200)
    // What changes nothing for this customer changes no ETag.
    await server.catraca.allowlists.add('vip', 'carl')
    assert.equal((await again({ targetingKey: 'ana', plan: 'a' })).status, 304)
    await server.catraca.allowlists.remove('vip', 'ana')
    assert.equal((await again({ targetingKey: 'ana', plan: 'a' })).status, 200)
  })
})

describe('GET /ofrep/v1/events', () => {
  async function follow(t: TestContext, server: TestServer, targetingKey: string, headers = {}) {
    const outgoing = request(`${server.url}/ofrep/v1/events?targetingKey=${targetingKey}`, {
      headers,
      agent: false,
    })
    outgoing.end()
    // Both are cut off when the test closes them.
    outgoing.on('error', () => {})
    t.after(() => outgoing.destroy())
    const [response] = await once(outgoing, 'response')
    response.on('error', () => {})
    const ended = new Promise((resolve) => response.on('end', resolve))
    const events: { type: string; etag: string }[] = []
    response.setEncoding('utf8').on('data', (text: string) => {
      for (const [, data] of text.matchAll(/^data: (.*)$/gm)) events.push(JSON.parse(data!))
    })
    return { response, events, ended, close: () => outgoing.destroy() }
  }

  it('tells the customers whose flags have changed, and no others', async (t) => {
    const server = await serve(t, { flags: { exposed: ['vip', 'half'] } })
    await fill(server)
    const ana = await follow(t, server, 'ana')
    const bob = await follow(t, server, 'bob')
    assert.equal(ana.response.headers['content-type'], 'text/event-stream')
    await until('both have the present state', () => ana.events.length === 1 && bob.events.length === 1)
    await server.catraca.allowlists.remove('vip', 'ana')
    await until('ana is told', () => ana.events.length === 2)
    assert.equal(ana.events[1]!.type, 'refetchEvaluation')
    assert.notEqual(ana.events[1]!.etag, ana.events[0]!.etag)
    assert.equal(bob.events.length, 1)
    await server.catraca.allowlists.pause('half')
    await until('both are told', () => ana.events.length === 3 && bob.events.length === 2)
    const again = await follow(t, server, 'ana', { 'last-event-id': ana.events[2]!.etag })
    await server.catraca.allowlists.add('vip', 'ana')
    await until(
      'the client that came again is told of what is new alone',
      () => again.events.length === 1 && ana.events.length === 4,
    )
    assert.equal(again.events[0]!.etag, ana.events.at(-1)!.etag)
  })

  it('ends with a client that sends no more', async (t) => {
    const server = await serve(t, { flags: { exposed: ['vip'], maxStreams: 1 } })
    await fill(server)
    const port = Number(new URL(server.url).port)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.after(() => socket.destroy())
    socket.write(`GET /ofrep/v1/events?targetingKey=ana HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    const [head] = await once(socket, 'data')
    assert.match(String(head), / 200 /)
    socket.end()
    socket.resume()
    await inTime(once(socket, 'end'), PATIENCE_MS, 'the end')
    await untilRight(
      () => follow(t, server, 'bob'),
      ({ response }) => response.statusCode === 200,
    )
  })

  it('ends when the key is revoked', async (t) => {
    const server = await serve(t, { flags: { exposed: ['vip'] } })
    await fill(server)
    await knownKey(server, 'other', ['read'])
    const { key } = await knownKey(server, 'page', ['check', 'read'])
    const stream = await follow(t, server, 'ana', bearer(key))
    assert.equal(stream.response.statusCode, 200)
    await server.catraca.keys.revoke('page')
    await stream.ended
  })

  it('is bounded by the flags of all streams together', async (t) => {
    const names = Array.from({ length: 1000 }, (_, i) => `none-${i}`)
    const server = await serve(t, { flags: { exposed: names } })
    const opened = await Promise.all(Array.from({ length: 110 }, (_, i) => follow(t, server, `c${i}`)))
    const refused = opened.filter(({ response }) => response.statusCode === 503)
    assert.equal(refused.length, 10)
  })

  it('is bounded, and ends when the server stops', async (t) => {
    const server = await serve(t, { flags: { exposed: ['vip'], maxStreams: 1 } })
    await fill(server)
    const first = await follow(t, server, 'ana')
    assert.equal((await follow(t, server, 'bob')).response.statusCode, 503)
    first.close()
    const next = await untilRight(
      () => follow(t, server, 'bob'),
      ({ response }) => response.statusCode === 200,
    )
    const wrong = await server.call('GET', '/ofrep/v1/events')
    assert.equal(wrong.status, 503)
    await server.stop()
    await next.ended
  })
})
