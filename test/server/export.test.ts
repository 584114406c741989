import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { preferred } from '../../src/server/http/accept.js'
import { serve, serveAll, type TestServer, until } from './support.js'

const MEMBERS = 60_000

const many = serveAll(async ({ catraca: { allowlists } }) => {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  async function* lines() {
    yield Buffer.from(
      Array.from({ length: MEMBERS }, (_, i) => `customer-${String(i).padStart(40, '0')}\n`).join(''),
    )
  }
  await allowlists.import('vip', lines(), { format: 'text' })
})

async function open(server: TestServer): Promise<IncomingMessage> {
  const outgoing = get(`${server.url}/allowlists/vip/export`, { agent: false })
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return response
}

describe('GET /allowlists/{id}/export', () => {
  it('sends the format that is liked best', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', 'ana')
    const formats: [string | undefined, string, string, RegExp][] = [
      [undefined, 'text/csv', 'vip.csv', /^customerId.*\nana/],
      ['*/*', 'text/csv', 'vip.csv', /ana/],
      ['text/*', 'text/csv', 'vip.csv', /ana/],
      ['text/plain', 'text/plain', 'vip.txt', /^ana\n$/],
      ['application/x-ndjson', 'application/x-ndjson', 'vip.ndjson', /^\{"customerId":"ana"/],
      ['text/csv;q=0.1, application/x-ndjson;q=0.9', 'application/x-ndjson', 'vip.ndjson', /ana/],
      ['text/html, text/csv;q=0, */*;q=0.1', 'application/x-ndjson', 'vip.ndjson', /ana/],
    ]
    for (const [accept, type, filename, content] of formats) {
      const headers = accept === undefined ? {} : { accept }
      const answer = await server.call('GET', '/allowlists/vip/export', { headers })
      assert.equal(answer.status, 200, accept)
      assert.equal(answer.headers['content-type'], `${type}; charset=utf-8`, accept)
      assert.equal(answer.headers['content-disposition'], `attachment; filename="${filename}"`, accept)
      assert.match(answer.text, content)
    }
    for (const accept of ['application/json', 'text/csv;q=0', 'image/*', 'text/csv;q=5']) {
      const { status, json } = await server.call('GET', '/allowlists/vip/export', { headers: { accept } })
      assert.deepEqual([status, json.code], [406, 'NOT_ACCEPTABLE'], accept)
    }
  })

  it('makes CSV for spreadsheets where that is asked for', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await server.catraca.allowlists.add('vip', '=1+1')
    const lines = async (query: string) =>
      (await server.call('GET', `/allowlists/vip/export${query}`)).text.split('\n')[1]!.split(',')[0]
    assert.deepEqual([await lines(''), await lines('?spreadsheet=1')], ['=1+1', "'=1+1"])
    const headers = { accept: 'text/plain' }
    const other = await server.call('GET', '/allowlists/vip/export?spreadsheet=1', { headers })
    assert.deepEqual([other.status, other.json.errors[0].path], [400, 'spreadsheet'])
  })

  it('sends an empty list as an empty list', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const { status, text: content } = await server.call('GET', '/allowlists/vip/export', {
      headers: { accept: 'text/plain' },
    })
    assert.deepEqual([status, content], [200, ''])
  })

  it('sends everybody, and checks go on meanwhile', async () => {
    const server = many()
    const response = await open(server)
    const content = text(response)
    assert.equal((await server.call('GET', '/customers/x/check?allowlists=vip')).status, 200)
    assert.equal((await content).trim().split('\n').length, MEMBERS + 1)
  })

  it('reads no further than the client does', async (t) => {
    const server = many()
    let pages = 0
    const whole = server.catraca.allowlists.export.bind(server.catraca.allowlists)
    t.mock.method(server.catraca.allowlists, 'export', async function* (...args: Parameters<typeof whole>) {
      for await (const chunk of whole(...args)) {
        pages++
        // Large enough to fill the buffers of the system between the two ends.
        yield Buffer.concat(Array(20).fill(chunk))
      }
    })
    const response = await open(server)
    response.pause()
    let before = -1
    await until('standstill', async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      const still = pages === before
      before = pages
      return still
    })
    assert.ok(pages < 60, `${pages} pages were read`)
    response.destroy()
  })

  it('lets go of the store when the client goes away', async (t) => {
    const server = many()
    let finished = false
    t.mock.method(server.catraca.allowlists, 'export', async function* () {
      try {
        for (;;) yield Buffer.alloc(64 * 1024, 0x61)
      } finally {
        finished = true
      }
    })
    const response = await open(server)
    response.destroy()
    await until('finished', () => finished)
  })

  it('breaks the connection when it fails midway, instead of ending as if whole', async () => {
    const server = many()
    const response = await open(server)
    response.once('data', () => response.pause())
    await server.catraca.allowlists.delete('vip')
    await assert.rejects(text(response), /aborted/)
  })
})

describe('preferred', () => {
  it('lets the more exact range decide', () => {
    const offered = ['text/csv', 'text/plain']
    assert.equal(preferred('text/*;q=0.9, text/csv;q=0.1', offered), 'text/plain')
    assert.equal(preferred('TEXT/PLAIN ; Q=1', offered), 'text/plain')
    assert.equal(preferred('*/*;q=0', offered), undefined)
    assert.equal(preferred('text/csv;q=nonsense', offered), undefined)
    assert.equal(preferred(' ', offered), 'text/csv')
  })
})
