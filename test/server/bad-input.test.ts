import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { ERROR_CODES } from '../../src/core/errors.js'
import { HTTP_STATUS } from '../../src/server/http/problem.js'
import { type Answer, oneConnection, serve, serveAll } from './support.js'

const BAD_IDS: [string, string][] = [
  ['empty', ''],
  ['300 characters', 'x'.repeat(300)],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['a hash', 'a%23b'],
  ['a slash', 'a%2Fb'],
  ['a space', 'a%20b'],
  ['a plus in a path stays a plus, a bar does not', 'a|b'],
  ['NUL', 'a%00b'],
  ['a control character', 'a%1Fb'],
  ['a line feed', 'a%0Ab'],
  ['an emoji', '%F0%9F%98%80'],
  ['half of an emoji', '%F0%9F'],
  ['not a percent sequence', '%ZZ'],
  ['a percent sign at the end', 'a%'],
  ['dots', '%2E%2E'],
]

function assertProblem({ status, headers, json }: Answer, code: string, context: string): void {
  assert.equal(json?.code, code, context)
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8', context)
  assert.equal(json.status, status, context)
  assert.equal(json.type, `urn:catraca:error:${code}`)
  for (const member of ['title', 'detail', 'requestId'])
    assert.ok(json[member].length > 0, `${context}: ${member}`)
  assert.equal(headers['x-request-id'], json.requestId, context)
}

const running = serveAll(({ catraca }) => catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' }))

describe('identifiers in paths', () => {
  for (const [name, id] of BAD_IDS) {
    it(`are refused with 400: ${name}`, async () => {
      const server = running()
      const calls: [string, string][] = [
        ['GET', `/customers/${id}/check?allowlists=vip`],
        ['GET', `/customers/${id}/allowlists`],
        ['PUT', `/allowlists/vip/customers/${id}`],
        ['PUT', `/allowlists/${id}/customers/ana`],
        ['POST', `/allowlists/${id}/import`],
        ['GET', `/allowlists/${id}/export`],
        ['GET', `/allowlists/vip/imports/${id}`],
        ['DELETE', `/keys/${id}`],
      ]
      for (const [method, path] of calls) {
        const answer = await server.call(method, path, { headers: { 'content-type': 'text/csv' } })
        const context = `${method} ${path.slice(0, 60)}: ${answer.text.slice(0, 200)}`
        if (path.includes('/customers/') && method === 'PUT') assert.notEqual(answer.status, 201, context)
        assert.ok([400, 415].includes(answer.status), context)
        assertProblem(answer, answer.status === 400 ? 'INVALID_INPUT' : 'UNSUPPORTED_MEDIA_TYPE', context)
      }
    })
  }

  it('may be words that mean something to JavaScript', async () => {
    const server = running()
    for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const created = await server.call('POST', '/allowlists', { body: { id, name: id, type: 'FIXA' } })
      assert.equal(created.status, 201, id)
      assert.equal((await server.call('PUT', `/allowlists/${id}/customers/${id}`)).status, 201)
      const { json } = await server.call('GET', `/customers/${id}/check?allowlists=${id}`)
      assert.deepEqual([json.customerId, json.overallAllowed], [id, true])
      const missing = await server.call('GET', `/customers/${id}-not/check?allowlists=${id}`)
      assert.equal(missing.json.overallAllowed, false)
    }
  })
})

describe('JSON bodies', () => {
  const empty = serveAll()
  const wave = (config: string) => `{"id":"w","name":"W","type":"ONDA","config":${config}}`
  const REFUSED: [string, string][] = [
    ['nothing', ''],
    ['not JSON', '{"name":'],
    ['two values', '{} {}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['an unknown field', '{"name":"x","type":"FIXA","color":"red"}'],
    ['__proto__ as a key', '{"name":"x","type":"FIXA","__proto__":{"admin":true}}'],
    ['an escaped __proto__', '{"name":"x","type":"FIXA","\\u005f_proto__":{"admin":true}}'],
    ['constructor as a key', '{"name":"x","type":"FIXA","constructor":{"prototype":{}}}'],
    ['an escaped constructor', '{"name":"x","type":"FIXA","\\u0063onstructor":1}'],
    ['a wrong type', '{"name":"x","type":"fixa"}'],
    ['a number as name', '{"name":7,"type":"FIXA"}'],
    ['percentage -0.1', wave('{"strategy":"PERCENTAGE","percentage":-0.1}')],
    ['percentage 1.1', wave('{"strategy":"PERCENTAGE","percentage":1.1}')],
    ['percentage NaN', wave('{"strategy":"PERCENTAGE","percentage":NaN}')],
    ['percentage null', wave('{"strategy":"PERCENTAGE","percentage":null}')],
    ['percentage as text', wave('{"strategy":"PERCENTAGE","percentage":"0.3"}')],
    ['end before start', wave('{"strategy":"TIME_WINDOW","startTime":2000,"endTime":1000}')],
    ['time as text', wave('{"strategy":"TIME_WINDOW","startTime":"2000"}')],
    ['itself as base', wave('{"strategy":"PERCENTAGE","percentage":1,"base":"w"}')],
    ['an unknown field in the config', wave('{"strategy":"PERCENTAGE","percentage":1,"more":1}')],
    [
      '5,001 customers',
      wave(`{"strategy":"EXPLICIT_LIST","customerIds":${JSON.stringify(Array(5001).fill('x'))}}`),
    ],
  ]
  for (const [name, body] of REFUSED) {
    it(`are refused with 400 and nothing is made: ${name}`, async () => {
      const server = empty()
      const headers = { 'content-type': 'application/json' }
      const answer = await server.call('POST', '/allowlists', { body, headers })
      assert.equal(answer.status, 400, answer.text)
      assertProblem(answer, 'INVALID_INPUT', name)
      assert.ok(answer.json.errors.length > 0)
      for (const { path, message } of answer.json.errors) assert.ok(path.length > 0 && message.length > 0)
      assert.deepEqual((await server.call('GET', '/allowlists')).json, { items: [] })
    })
  }

  it('name every field that is wrong', async () => {
    const server = empty()
    const body = { id: 'w', type: 'ONDA', color: 1, config: { strategy: 'X', ramp: [{ at: 1 }] } }
    const { json } = await server.call('POST', '/allowlists', { body })
    const paths = json.errors.map((error: { path: string }) => error.path).sort()
    assert.deepEqual(paths, ['color', 'config.ramp[0].percentage', 'config.strategy', 'name'])
  })

  it('full of mistakes are refused without listing them all', async () => {
    const server = empty()
    const body = { customerIds: Array(10_000).fill(1), allowlists: ['vip'] }
    const { status, json } = await server.call('POST', '/check', { body })
    assert.equal(status, 400)
    assert.deepEqual(json.errors, [{ path: 'body', message: 'has the wrong shape' }])
  })

  it('hold no such keys anywhere', async () => {
    const server = running()
    await server.catraca.allowlists.create({ id: 'keys', name: 'Keys', type: 'FIXA' })
    const headers = { 'content-type': 'application/json' }
    for (const key of ['__proto__', 'constructor', '\\u005f_proto__', 'construct\\u006fr']) {
      const body = `{"metadata":{"deep":[{"${key}":1}]}}`
      const { status, json } = await server.call('PUT', '/allowlists/keys/customers/ana', { body, headers })
      assert.deepEqual([status, json.errors?.[0].path], [400, 'body'], key)
    }
    const body = '{"metadata":{"word":"constructor","\\u0061":1}}'
    assert.equal((await server.call('PUT', '/allowlists/keys/customers/ana', { body, headers })).status, 201)
  })

  it('hold no integers that would be changed', async () => {
    const server = running()
    await server.catraca.allowlists.create({ id: 'large', name: 'Large', type: 'FIXA' })
    const headers = { 'content-type': 'application/json' }
    const claimed = await server.call('POST', '/idempotency/PAY/large', { body: {} })
    assert.equal(claimed.status, 201, claimed.text)
    const large = '{"id":9007199254740993}'
    const bodies: [string, string, string, string][] = [
      [
        'POST',
        '/idempotency/PAY/large/complete',
        `{"token":"${claimed.json.token}","response":${large}}`,
        'response.id',
      ],
      ['POST', '/idempotency/PAY/other', `{"payload":{"rows":[${large}]}}`, 'payload.rows[0].id'],
      ['PUT', '/cache/things/a', `{"value":{"deep":[1,${large}]}}`, 'value.deep[1].id'],
      ['PUT', '/cache/things/a', `{"value":-9007199254740993}`, 'value'],
      ['PUT', '/allowlists/large/customers/ana', `{"metadata":${large}}`, 'metadata.id'],
    ]
    for (const [method, path, body, named] of bodies) {
      const { status, json } = await server.call(method, path, { body, headers })
      assert.deepEqual([status, json.errors?.[0].path], [400, named], path)
      assert.match(json.detail, /below 2\^53: give larger ones as text/)
    }
    const exact = '{"id":9007199254740991,"text":"9007199254740993","share":0.12345678901234568}'
    const kept = { body: `{"metadata":${exact}}`, headers }
    assert.equal((await server.call('PUT', '/allowlists/large/customers/ana', kept)).status, 201)
    const { text } = await server.call('GET', '/allowlists/large/customers/ana')
    assert.ok(text.includes(exact), text)
  })

  it('may not close a ring of bases', async () => {
    const server = running()
    const config = { strategy: 'PERCENTAGE', percentage: 1 }
    for (const id of ['a', 'b']) {
      await server.call('POST', '/allowlists', { body: { id, name: id, type: 'ONDA', config } })
    }
    const first = await server.call('PATCH', '/allowlists/a', { body: { config: { ...config, base: 'b' } } })
    assert.equal(first.status, 200)
    const second = await server.call('PATCH', '/allowlists/b', { body: { config: { ...config, base: 'a' } } })
    assert.equal(second.status, 400)
    assertProblem(second, 'INVALID_INPUT', 'ring')
  })

  it('must be of a type and size that the route reads', async (t) => {
    const server = await serve(t, { bodyLimitBytes: 4096 })
    const body = '{"name":"x","type":"FIXA"}'
    const types = [
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'text/csv',
      'nonsense',
    ]
    for (const type of types) {
      const answer = await server.call('POST', '/allowlists', { body, headers: { 'content-type': type } })
      assert.equal(answer.status, 415, type)
      assertProblem(answer, 'UNSUPPORTED_MEDIA_TYPE', type)
    }
    const encoded = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    assertProblem(
      await server.call('POST', '/allowlists', { body, headers: encoded }),
      'UNSUPPORTED_MEDIA_TYPE',
      'gzip',
    )
    const large = { name: 'x'.repeat(5000), type: 'FIXA' }
    const refused = await server.call('POST', '/allowlists', { body: large })
    assert.equal(refused.status, 413)
    assertProblem(refused, 'PAYLOAD_TOO_LARGE', 'large')
  })

  it('that are wrong do not cost the connection', async (t) => {
    const server = empty()
    const agent = oneConnection(t)
    let connections = 0
    server.app.server.on('connection', () => connections++)
    for (const body of ['{', '{}', '[]', '']) {
      const call = { agent, body, headers: { 'content-type': 'application/json' } }
      assert.equal((await server.call('POST', '/allowlists', call)).status, 400)
    }
    assert.equal(connections, 1)
  })

  it('too large by far are refused in a way that the sender reads', async (t) => {
    const server = empty()
    const body = 'x'.repeat(20 * 1024 * 1024)
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const agent = oneConnection(t)
    const answer = await server.call('POST', '/allowlists', { body, headers, agent })
    assert.equal(answer.status, 413)
    assertProblem(answer, 'PAYLOAD_TOO_LARGE', 'chunked')
    const sockets = new Set<unknown>()
    server.app.server.on('connection', (socket) => sockets.add(socket))
    assert.equal((await server.call('GET', '/live', { agent })).status, 200)
    assert.equal(sockets.size, 0, 'on the same connection')
  })
})

describe('queries', () => {
  it('hold only what is known, in its range', async () => {
    const server = running()
    const wrong = ['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'limit=-1', 'limit=', 'limit=1&limit=2']
    for (const query of [
      ...wrong,
      'cursor=%00',
      'cursor=nonsense!',
      'offset=3',
      '__proto__=1',
      'constructor=1',
    ]) {
      const answer = await server.call('GET', `/allowlists?${query}`)
      assert.equal(answer.status, 400, `${query}: ${answer.text}`)
      assertProblem(answer, 'INVALID_INPUT', query)
    }
    assert.equal((await server.call('GET', '/allowlists?limit=1000')).status, 200)
  })

  it('are refused where none is known', async () => {
    const server = running()
    const calls: [string, string, unknown?][] = [
      ['GET', '/log-level'],
      ['GET', '/locks/x'],
      ['GET', '/revoked-subjects/x'],
      ['GET', '/health'],
      ['PUT', '/allowlists/vip/customers/bia', {}],
      ['DELETE', '/locks/x'],
    ]
    for (const [method, path, body] of calls) {
      const answer = await server.call(method, `${path}?color=red`, { body })
      assertProblem(answer, 'INVALID_INPUT', `${method} ${path}: ${answer.text}`)
      assert.deepEqual(answer.json.errors, [{ path: 'color', message: 'is not a known field' }])
    }
    assert.equal((await server.call('GET', '/live?probe=1')).status, 200)
  })
})

describe('requests', () => {
  it('to nowhere get 404', async () => {
    const server = running()
    const calls = [
      ['GET', '/nowhere'],
      ['POST', '/live'],
      ['PUT', '/allowlists'],
      ['GET', '/allowlists/a/b/c'],
      ['OPTIONS', '/allowlists'],
    ]
    for (const [method, path] of calls) {
      const answer = await server.call(method!, path!)
      assert.equal(answer.status, 404, path)
      assertProblem(answer, 'ROUTE_NOT_FOUND', `${method} ${path}`)
    }
  })

  it('with headers that are too large get 431', async () => {
    const server = running()
    const answer = await server.call('GET', '/live', { headers: { 'x-large': 'x'.repeat(17_000) } })
    assert.equal(answer.status, 431)
    assertProblem(answer, 'INVALID_INPUT', '431')
    assert.equal(
      (await server.call('GET', '/live', { headers: { 'x-large': 'x'.repeat(15_000) } })).status,
      200,
    )
  })

  it('that are not HTTP get 400', async () => {
    const server = running()
    const { hostname, port } = new URL(server.url)
    for (const bytes of ['nonsense\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET /live HTTP/1.1\r\n\r\n']) {
      const socket = connect(Number(port), hostname)
      socket.write(bytes)
      if (bytes.startsWith('GET /live')) socket.end()
      const answer = await text(socket)
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, bytes)
      assert.match(answer, /application\/problem\+json/)
      assert.match(answer, /x-request-id: \S+/)
      assert.match(answer, /"code":"INVALID_INPUT"/)
    }
  })

  it('keep their own id when it is sane', async () => {
    const server = running()
    const ask = (path: string, id: string) => server.call('GET', path, { headers: { 'x-request-id': id } })
    for (const path of ['/live', '/nowhere', '/customers/a/check?allowlists=b', '/allowlists/%ZZ']) {
      assert.equal((await ask(path, 'order-17.a')).headers['x-request-id'], 'order-17.a', path)
      for (const wrong of ['a b', '<script>', 'x'.repeat(129), '']) {
        const given = (await ask(path, wrong)).headers['x-request-id']
        assert.match(String(given), /^[0-9a-f]{12}-[0-9a-z]+$/, `${path} ${wrong}`)
      }
    }
    const ids = await Promise.all(Array.from({ length: 20 }, () => server.call('GET', '/live')))
    assert.equal(new Set(ids.map(({ headers }) => headers['x-request-id'])).size, 20)
  })
})

describe('the table of statuses', () => {
  it('has a status of failure for every code', () => {
    assert.deepEqual(Object.keys(HTTP_STATUS).sort(), Object.keys(ERROR_CODES).sort())
    for (const [code, status] of Object.entries(HTTP_STATUS)) assert.ok(status >= 400 && status < 600, code)
  })
})
