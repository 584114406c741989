import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { CatracaError } from '../../src/core/errors.js'
import { temporaryDirectory } from '../support/temporary.js'
import { oneConnection, serve, serveAll, type TestServer, until } from './support.js'

const CSV = { 'content-type': 'text/csv' }
const TEXT = { 'content-type': 'text/plain' }

const shared = serveAll()

/** A server with an empty list, which is gone after the test; a server of its own when there are options. */
async function serveVip(t: TestContext, options?: Parameters<typeof serve>[1]): Promise<TestServer> {
  const server = options === undefined ? shared() : await serve(t, options)
  const { allowlists, upkeep } = server.catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  if (options === undefined) {
    t.after(async () => {
      await allowlists.delete('vip').catch(() => {})
      await upkeep()
    })
  }
  return server
}

/** An import whose body is sent by hand. */
function openImport(server: TestServer, query: string, headers: OutgoingHttpHeaders = TEXT): ClientRequest {
  const outgoing = request(`${server.url}/allowlists/vip/import${query}`, {
    method: 'POST',
    headers,
    agent: false,
  })
  outgoing.on('error', () => {})
  return outgoing
}

async function answerOf(outgoing: ClientRequest): Promise<{ status: number; json: Record<string, unknown> }> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode!, json: JSON.parse(await text(response)) }
}

/** The store fills up as soon as the first rows come. */
function failMidway(t: TestContext, server: TestServer): void {
  t.mock.method(server.catraca.allowlists, 'import', async (_id: string, body: AsyncIterable<Uint8Array>) => {
    for await (const _ of body) throw new CatracaError('STORE_FULL', 'the disk is full')
  })
}

/** Sends so many megabytes, or fewer when the other end hangs up; tells how many. */
async function pour(outgoing: Writable, megabytes: number): Promise<number> {
  const piece = Buffer.alloc(1024 * 1024, 0x61)
  for (let sent = 0; sent < megabytes; sent++) {
    if (outgoing.destroyed) return sent
    if (outgoing.write(piece)) continue
    await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]).catch(() => {})
  }
  return megabytes
}

const statusOf = async (server: TestServer, importId: string) =>
  (await server.call('GET', `/allowlists/vip/imports/${importId}`)).json

async function idsOf(server: TestServer): Promise<string[]> {
  const { text: exported } = await server.call('GET', '/allowlists/vip/export', {
    headers: { accept: 'text/plain' },
  })
  return exported.split('\n').filter((line) => line !== '')
}

describe('POST /allowlists/{id}/import', () => {
  const rows = 'ana\nbob\n'
  const BODIES: [string, OutgoingHttpHeaders, string | Buffer, string][] = [
    ['CSV without header', CSV, rows, ''],
    ['CSV as spreadsheets write it', CSV, '\uFEFFname,"customerId"\r\nn,"ana"\r\n"n, m",bob\r\n', ''],
    ['CSV with a charset', { 'content-type': 'Text/CSV; charset=UTF-8' }, rows, ''],
    ['lines', TEXT, rows, ''],
    ['NDJSON', { 'content-type': 'application/x-ndjson' }, '{"customerId":"ana"}\n"bob"\n', ''],
    [
      'NDJSON by another name',
      { 'content-type': 'application/jsonl' },
      '{"customerId":"ana"}\n{"customerId":"bob"}',
      '',
    ],
    ['gzip as encoding', { ...CSV, 'content-encoding': 'gzip' }, gzipSync(rows), ''],
    ['gzip as type', { 'content-type': 'application/gzip' }, gzipSync(rows), ''],
    ['gzip as type, of lines', { 'content-type': 'application/gzip' }, gzipSync(rows), '?format=text'],
    ['gzip that nobody told of', CSV, gzipSync(rows), ''],
    ['no encoding by name', { ...CSV, 'content-encoding': 'identity' }, rows, ''],
    ['chunks', { ...TEXT, 'transfer-encoding': 'chunked' }, rows, ''],
  ]
  for (const [name, headers, body, query] of BODIES) {
    it(`reads ${name}`, async (t) => {
      const server = await serveVip(t)
      const { status, json } = await server.call('POST', `/allowlists/vip/import${query}`, { headers, body })
      assert.equal(status, 200, JSON.stringify(json))
      assert.deepEqual([json.added, json.rejected, json.customerCount], [2, 0, 2], JSON.stringify(json))
      assert.deepEqual(await idsOf(server), ['ana', 'bob'])
    })
  }

  it('counts what happened, and names the rows that are wrong', async (t) => {
    const server = await serveVip(t)
    await server.catraca.allowlists.add('vip', 'ana')
    const body = 'ana\nbob\nnot good\n\ncaio\n😀\n'
    const { status, json } = await server.call('POST', '/allowlists/vip/import', { headers: TEXT, body })
    assert.equal(status, 200)
    const { importId, token, firstErrors, ...counts } = json
    assert.deepEqual(counts, { added: 2, unchanged: 1, removed: 0, rejected: 2, customerCount: 3 })
    assert.deepEqual(
      firstErrors.map(({ line }: { line: number }) => line),
      [3, 6],
    )
    const status200 = await statusOf(server, importId)
    assert.deepEqual([status200.state, status200.rowsAcknowledged, status200.mode], ['completed', 5, 'add'])
    const seen = `/customers/caio/check?allowlists=vip&atLeast=${encodeURIComponent(token)}`
    assert.equal((await server.call('GET', seen)).json.overallAllowed, true)
    const csv = { headers: CSV, body: 'customerId\ndani,9\nedu\n' }
    const extra = (await server.call('POST', '/allowlists/vip/import', csv)).json
    assert.deepEqual([extra.added, extra.rowsWithExtraCells], [2, 1])
    assert.equal((await statusOf(server, extra.importId)).rowsWithExtraCells, 1)
  })

  it('replaces everybody', async (t) => {
    const server = await serveVip(t)
    for (const id of ['ana', 'bob']) await server.catraca.allowlists.add('vip', id)
    const call = { headers: TEXT, body: 'bob\ncaio\n' }
    const { json } = await server.call('POST', '/allowlists/vip/import?mode=replace', call)
    assert.deepEqual([json.added, json.unchanged, json.removed, json.customerCount], [1, 1, 1, 2])
    assert.deepEqual(await idsOf(server), ['bob', 'caio'])
  })

  it('removes those of a file, and lists the imports with their results', async (t) => {
    const server = await serveVip(t)
    const { call } = server
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `c${from + i}`).join('\n')
    const post = (query: string, body: string) =>
      call('POST', `/allowlists/vip/import${query}`, { headers: TEXT, body })
    await post('?importId=in', rows(0, 1300))
    await server.catraca.allowlists.check('c7', ['vip'])
    const { status, json } = await post('?mode=remove&importId=out', `${rows(3, 1203)}\nc5\nno!\nnobody`)
    const counts = { added: 0, removed: 1200, unchanged: 2, rejected: 1, customerCount: 100 }
    assert.equal(status, 200)
    assert.deepEqual({ ...json, ...counts }, json)
    const left = await call('GET', '/customers/c7/check?allowlists=vip')
    assert.deepEqual([left.json.results[0].reason], ['NOT_MEMBER'])
    const again = await post('?mode=remove&importId=out', 'other')
    assert.deepEqual({ ...again.json, ...counts }, again.json)
    assert.equal((await post('?mode=add&importId=out', 'x')).status, 409)
    const { json: listed } = await call('GET', '/allowlists/vip/imports?limit=2')
    assert.deepEqual(
      listed.items.map(({ importId, mode, state, removed }: Record<string, unknown>) => [
        importId,
        mode,
        state,
        removed,
      ]),
      [
        ['out', 'remove', 'completed', 1200],
        ['in', 'add', 'completed', 0],
      ],
    )
    assert.equal((await call('GET', '/allowlists/vip/imports?limit=101')).status, 400)
    const found = await call('GET', '/allowlists/vip/customers?prefix=c12&limit=1000')
    assert.equal(found.json.items.length, 97)
    assert.equal((await call('GET', '/allowlists/vip/customers?prefix=a/b')).status, 400)
    const { json: trail } = await call('GET', '/audit?action=allowlist.import&limit=1')
    assert.deepEqual([trail.items[0].detail.mode, trail.items[0].detail.removed], ['remove', 1200])
  })

  it('refuses what it cannot read', async (t) => {
    const server = await serveVip(t)
    const wrong: OutgoingHttpHeaders[] = [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'multipart/form-data; boundary=x' },
      { ...CSV, 'content-encoding': 'br' },
      { ...CSV, 'content-encoding': 'gzip, gzip' },
    ]
    for (const headers of wrong) {
      const { status, json } = await server.call('POST', '/allowlists/vip/import', { headers, body: 'ana\n' })
      assert.deepEqual([status, json.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], JSON.stringify(headers))
    }
    for (const query of ['?mode=all', '?importId=a%20b', '?async=2', '?format=xml', '?more=1', '?addedBy=']) {
      const { status, json } = await server.call('POST', `/allowlists/vip/import${query}`, {
        headers: CSV,
        body: 'ana\n',
      })
      assert.deepEqual([status, json.code], [400, 'INVALID_INPUT'], query)
    }
    const missing = await server.call('POST', '/allowlists/nope/import', { headers: CSV, body: 'ana\n' })
    assert.equal(missing.status, 404)
    assert.deepEqual(await idsOf(server), [])
  })

  it('reports gzip that is cut off or expands without end', async (t) => {
    const server = await serveVip(t)
    const headers = { ...TEXT, 'content-encoding': 'gzip' }
    const whole = gzipSync(Array.from({ length: 5000 }, (_, i) => `c${i}\n`).join(''))
    const cut = await server.call('POST', '/allowlists/vip/import', {
      headers,
      body: whole.subarray(0, 2000),
    })
    assert.ok(cut.status >= 400 && cut.status < 500, cut.text)
    const line = Buffer.alloc(100 * 1024 * 1024, 0x61)
    const bomb = await server.call('POST', '/allowlists/vip/import', {
      headers,
      body: gzipSync(line, { level: 1 }),
    })
    assert.ok([200, 400, 413].includes(bomb.status), bomb.text)
    if (bomb.status === 200) assert.equal(bomb.json.rejected, 1)
  })

  it('survives a line of 100 MB', async (t) => {
    const server = await serveVip(t)
    const outgoing = openImport(server, '')
    const answer = answerOf(outgoing)
    await pour(outgoing, 100)
    outgoing.end('\nana\n')
    const { status, json } = await answer
    assert.deepEqual([status, json.added, json.rejected], [200, 1, 1])
  })

  it('waits for 100-continue', async (t) => {
    const server = await serveVip(t)
    const outgoing = openImport(server, '', { ...TEXT, expect: '100-continue' })
    const answer = answerOf(outgoing)
    outgoing.flushHeaders()
    await once(outgoing, 'continue')
    outgoing.end('ana\n')
    assert.equal((await answer).status, 200)
  })

  it('lets checks through all the while', async (t) => {
    const server = await serveVip(t)
    const outgoing = openImport(server, '?importId=slow')
    const answer = answerOf(outgoing)
    outgoing.write('ana\n')
    await until('under way', async () => (await statusOf(server, 'slow')).state === 'running')
    for (let i = 0; i < 20; i++) {
      outgoing.write(`c${i}\n`.repeat(100))
      assert.equal((await server.call('GET', '/customers/zoe/check?allowlists=vip')).status, 200)
    }
    outgoing.end()
    const { json } = await answer
    assert.deepEqual([json.added, json.customerCount], [21, 21])
  })

  it('records an import whose client went away, and resumes it', async (t) => {
    const server = await serveVip(t)
    const outgoing = openImport(server, '?importId=cut')
    outgoing.write('ana\nbob\n')
    await until('under way', async () => (await statusOf(server, 'cut')).state === 'running')
    outgoing.destroy()
    await until('interrupted', async () => (await statusOf(server, 'cut')).state === 'interrupted')
    const call = { headers: TEXT, body: 'ana\nbob\ncaio\n' }
    const { status, json } = await server.call('POST', '/allowlists/vip/import?importId=cut', call)
    assert.deepEqual([status, json.customerCount, json.added], [200, 3, 3])
  })

  it('refuses a second replace, and tells the client who is still sending', async (t) => {
    const server = await serveVip(t)
    const first = openImport(server, '?mode=replace&importId=first')
    const answered = answerOf(first)
    first.write('ana\n')
    await until('under way', async () => (await statusOf(server, 'first')).state === 'running')
    const second = openImport(server, '?mode=replace&importId=second')
    const refused = answerOf(second)
    const piece = 'somebody\n'.repeat(10_000)
    let stopped = false
    second.once('response', () => (stopped = true))
    while (!stopped && !second.destroyed) {
      if (!second.write(piece)) await Promise.race([once(second, 'drain'), once(second, 'response')])
    }
    const { status, json } = await refused
    assert.deepEqual([status, json.code], [409, 'REPLACE_IN_PROGRESS'])
    second.destroy()
    first.end('bob\n')
    assert.deepEqual((await answered).status, 200)
    assert.deepEqual(await idsOf(server), ['ana', 'bob'])
  })

  it('keeps the connection usable after a refusal', async (t) => {
    const server = await serveVip(t)
    const agent = oneConnection(t)
    const body = 'x\n'.repeat(500_000)
    const refused = await server.call('POST', '/allowlists/nope/import', { agent, headers: TEXT, body })
    assert.equal(refused.status, 404)
    assert.equal((await server.call('GET', '/live', { agent })).status, 200)
  })

  for (const [when, list, status] of [
    ['after a refusal', 'nope', 404],
    ['after a failure midway', 'vip', 507],
  ] as const) {
    it(`hangs up on a client who sends on and on ${when}`, async (t) => {
      const server = await serveVip(t)
      if (list === 'vip') failMidway(t, server)
      const { hostname, port } = new URL(server.url)
      // By hand: the client of Node stops sending by itself.
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      const head = `POST /allowlists/${list}/import HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: text/csv\r\n`
      socket.write(`${head}content-length: 1000000000\r\n\r\nana\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      assert.match(String(answer), new RegExp(`^HTTP/1\\.1 ${status} `))
      const sentMb = await pour(socket, 200)
      assert.ok(sentMb > 60 && sentMb < 100, `${sentMb} MB were taken`)
    })
  }

  it('answers a client who wants the connection closed and does not stop sending', async (t) => {
    const server = await serveVip(t)
    for (let i = 0; i < 10; i++) {
      const outgoing = openImport(server, '?mode=nonsense')
      const answer = answerOf(outgoing)
      await pour(outgoing, 5)
      outgoing.end()
      assert.equal((await answer).status, 400)
    }
  })

  it('refuses midway in a way that the sender reads', async (t) => {
    const server = await serveVip(t)
    failMidway(t, server)
    for (const agent of [oneConnection(t), undefined]) {
      const call = { ...(agent && { agent }), headers: TEXT, body: 'x\n'.repeat(5_000_000) }
      const { status, json } = await server.call('POST', '/allowlists/vip/import', call)
      assert.deepEqual([status, json.code], [507, 'STORE_FULL'])
      if (agent) assert.equal((await server.call('GET', '/live', { agent })).status, 200)
    }
  })

  it('ends with 404 when the list is deleted meanwhile', async (t) => {
    const server = await serveVip(t)
    const outgoing = openImport(server, '?importId=late')
    const answer = answerOf(outgoing)
    outgoing.write('ana\n')
    await until('under way', async () => (await statusOf(server, 'late')).state === 'running')
    assert.equal((await server.call('DELETE', '/allowlists/vip')).status, 204)
    outgoing.end('bob\n')
    const { status, json } = await answer
    assert.deepEqual([status, json.code], [404, 'ALLOWLIST_NOT_FOUND'])
  })
})

describe('asynchronous imports', () => {
  it('answer when the body is there, and go on', async (t) => {
    const spoolDir = temporaryDirectory()
    const server = await serveVip(t, { spoolDir })
    const body = Array.from({ length: 20_000 }, (_, i) => `c${i}\n`).join('')
    const accepted = await server.call('POST', '/allowlists/vip/import?async=1&importId=later', {
      headers: TEXT,
      body,
    })
    assert.equal(accepted.status, 202)
    assert.deepEqual(accepted.json, { importId: 'later', status: 'running' })
    assert.equal(accepted.headers.location, '/allowlists/vip/imports/later')
    await until('completed', async () => (await statusOf(server, 'later')).state === 'completed')
    assert.equal((await server.call('GET', '/allowlists/vip')).json.customerCount, 20_000)
    assert.deepEqual(readdirSync(spoolDir), [])
  })

  it('leave nothing in the spool directory, even while they run', async (t) => {
    const spoolDir = temporaryDirectory()
    const server = await serveVip(t, { spoolDir })
    const outgoing = openImport(server, '?async=1')
    const watcher = watch(spoolDir)
    t.after(() => watcher.close())
    const created = once(watcher, 'change')
    outgoing.write('ana\n')
    await created
    await until('the file has no name any more', () => readdirSync(spoolDir).length === 0)
    outgoing.destroy()
  })

  it('are refused like others', async (t) => {
    const server = await serveVip(t)
    const call = { headers: TEXT, body: 'ana\n' }
    const missing = await server.call('POST', '/allowlists/nope/import?async=1', call)
    assert.deepEqual([missing.status, missing.json.code], [404, 'ALLOWLIST_NOT_FOUND'])
    const first = openImport(server, '?mode=replace&importId=first')
    const answered = answerOf(first)
    first.write('ana\n')
    await until('under way', async () => (await statusOf(server, 'first')).state === 'running')
    const second = await server.call('POST', '/allowlists/vip/import?mode=replace&async=1', call)
    assert.deepEqual([second.status, second.json.code], [409, 'REPLACE_IN_PROGRESS'])
    first.end()
    assert.equal((await answered).status, 200)
  })
})
